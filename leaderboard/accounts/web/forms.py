"""Forms of accounts, profiles and teams."""

from __future__ import annotations

from typing import Any

from allauth.account.forms import ChangePasswordForm, ResetPasswordKeyForm, SetPasswordForm, SignupForm
from allauth.mfa.webauthn.forms import AddWebAuthnForm
from allauth.socialaccount.forms import DisconnectForm
from allauth.socialaccount.forms import SignupForm as SocialSignupForm
from django import forms
from django.conf import settings

from leaderboard.accounts.actions import tokens
from leaderboard.core.login_providers import ORCID
from leaderboard.models import TokenDetails

RULES_HELP = "At least 8 characters. Not a common password, not only digits, and not like your name or email address."


class ShortPasswordRules:
    """Mixin of forms with a new password, which state its rules in one sentence instead of Django's list."""

    fields: dict[str, forms.Field]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password1"].help_text = RULES_HELP
        self.fields["password2"].label = "Password again"
        for field in self.fields.values():
            field.label = str(field.label).capitalize()


class SignUpForm(ShortPasswordRules, SignupForm):
    """django-allauth's form to sign up."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not settings.SENDS_MAIL:
            self.fields["email"].help_text = "You can log in with it. This site sends no email."


class SocialSignUpForm(SocialSignupForm):
    """django-allauth's form to sign up with an account of another provider."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            field.label = str(field.label).capitalize()


class UnlinkForm(DisconnectForm):
    """django-allauth's form to unlink an account, also if its provider is no longer configured."""

    accounts: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = {provider.id: provider.name for provider in settings.LOGIN_PROVIDERS}
        self.accounts = list(self.accounts.order_by("pk"))
        for account in self.accounts:
            account.provider_name = names.get(account.provider, f"{account.provider} (not offered any more)")

    def clean_account(self) -> Any:
        """Return the account to unlink, with the id of its provider.

        django-allauth would look up the provider itself, which may no longer be configured.
        """
        account = self.cleaned_data["account"]
        account._provider = account.provider
        return account


class AddPasskeyForm(AddWebAuthnForm):
    """django-allauth's form to add a passkey."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["name"] = forms.CharField(
            max_length=60, required=False, help_text="To recognise it by, such as “phone” or “blue key”."
        )
        self.order_fields(["name", "passwordless"])
        passwordless = self.fields["passwordless"]
        passwordless.label, passwordless.initial = "Log in with it, without a password", True
        passwordless.help_text = "Otherwise it is only a second factor. Old security keys can only be that."


class FirstPasswordForm(ShortPasswordRules, SetPasswordForm):
    """django-allauth's form to set a password, for accounts without one."""


class NewPasswordForm(ShortPasswordRules, ChangePasswordForm):
    """django-allauth's form to change the password."""


class ResetPasswordForm(ShortPasswordRules, ResetPasswordKeyForm):
    """django-allauth's form to set a password with a mailed link."""


class UsernameForm(forms.Form):
    """Form in which users confirm with their user name that they want to delete their account."""

    username = forms.CharField(label="Your username", widget=forms.TextInput({"autocomplete": "off"}))


class TokenForm(forms.Form):
    """Form to create an API token."""

    name = forms.CharField(max_length=60, help_text="What the token is for, such as “laptop” or “nightly job”.")
    scope = forms.ChoiceField(
        label="It may",
        choices=TokenDetails.Scope.choices,
        initial=TokenDetails.Scope.SUBMIT,
        widget=forms.RadioSelect,
        help_text="With “read only”, a script can follow your submissions and read scores, but cannot submit.",
    )
    days = forms.TypedChoiceField(
        label="It expires after",
        coerce=int,
        choices=[(days, f"{days} days") for days in tokens.LIFETIMES],
        initial=tokens.DEFAULT_DAYS,
    )


class TeamForm(forms.Form):
    """Form to create a team: its name."""

    name = forms.CharField(max_length=100, help_text="Shown on leaderboards with your systems.")


class InviteForm(forms.Form):
    """Form to invite a person to a team: the person's mail address."""

    address = forms.EmailField(label="Email address", widget=forms.EmailInput({"autocomplete": "off"}))


class ProfileForm(forms.Form):
    """Form for a user's public profile."""

    is_public = forms.BooleanField(
        label="Show my profile to everybody",
        required=False,
        help_text="On a page of your own, and on the public pages of your teams.",
    )
    name = forms.CharField(max_length=100, widget=forms.TextInput({"autocomplete": "name"}))
    affiliation = forms.CharField(
        max_length=200, required=False, widget=forms.TextInput({"autocomplete": "organization"})
    )
    url = forms.URLField(label="Website", max_length=300, required=False, assume_scheme="https")
    orcid = forms.CharField(
        label="ORCID iD",
        max_length=60,
        required=False,
        help_text="For example 0000-0002-1825-0097. Shown as not verified.",
    )

    def __init__(self, *args: Any, linked_orcid: str = "", **kwargs: Any) -> None:
        """linked_orcid: the ORCID iD that the user has linked, which can be shown as verified; "": none."""
        super().__init__(*args, **kwargs)
        self._linked_orcid = linked_orcid
        if linked_orcid:
            self.fields["orcid"] = forms.BooleanField(
                label=f"Show my ORCID iD, {linked_orcid}",
                required=False,
                help_text="Verified, because you have linked it. Also shown on the pages of your teams and systems.",
            )
            self.initial["orcid"] = self.initial.get("orcid") == linked_orcid
        elif any(provider.id == ORCID for provider in settings.LOGIN_PROVIDERS):
            self.fields["orcid"].help_text += " To verify it, link it under Linked accounts."

    def clean_orcid(self) -> str:
        """Return the ORCID iD to show; "" for none."""
        given: str | bool = self.cleaned_data["orcid"]
        if self._linked_orcid:
            return self._linked_orcid if given else ""
        return str(given)

    def clean_url(self) -> str:
        """Return the address. Raises ValidationError unless it begins with https:// or http://."""
        url: str = self.cleaned_data["url"]
        if url and not url.lower().startswith(("https://", "http://")):
            raise forms.ValidationError(f"The address is {url[:60]}; expected one that begins with https://.")
        return url
