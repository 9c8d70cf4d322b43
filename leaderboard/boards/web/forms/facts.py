"""Forms for the facts that a benchmark asks for, and for a system's values of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms import BaseFormSet

from leaderboard.boards.queries import facts
from leaderboard.boards.queries.facts import KINDS, LONGEST_TEXT, Fact, Stored


class FactForm(forms.Form):
    """Form of one fact that a benchmark asks for."""

    title = forms.CharField(max_length=facts.LONGEST_TITLE)
    name = forms.RegexField(
        rf"\A{facts.NAME.pattern}",  # Django searches; `match` begins at the start
        max_length=facts.LONGEST_NAME,
        error_messages={"invalid": "Expected lower-case letters a-z, digits and underscores, with a letter first."},
    )
    kind = forms.ChoiceField(choices=list(KINDS.items()), initial="text")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **{**kwargs, "use_required_attribute": False, "empty_permitted": True})
        self.fields["name"].widget.attrs |= {"spellcheck": "false", "autocapitalize": "none"}

    def has_changed(self) -> bool:
        """Return True if a name or a title is entered; a fact without either is removed."""
        return any(self[name].data for name in ("name", "title"))


class _FactsFormSet(BaseFormSet):
    default_error_messages = {
        "missing_management_form": "The form arrived incomplete, and nothing was changed. Load the page and try again.",
        "too_many_forms": "There are more facts than the %(num)d that are possible.",
    }

    def clean(self) -> None:
        # The page always has empty rows, so a form that counts fewer than it sent is no request to remove facts.
        if not self.forms or f"{self.add_prefix(len(self.forms))}-name" in self.data:
            raise ValidationError(self.default_error_messages["missing_management_form"])
        if not any(self.errors):
            try:
                facts.validated(entered(self))
            except ValueError as error:
                raise ValidationError(f"The facts are not valid: {error}.") from error


def entered(form: BaseFormSet) -> Stored:
    """Return the entered facts as dicts {"name", "title", "kind"}, without empty rows."""
    return [dict(row.cleaned_data) for row in form.forms if row.cleaned_data]


FactsFormSet = forms.formset_factory(
    FactForm, formset=_FactsFormSet, extra=3, max_num=facts.MOST, absolute_max=10 * facts.MOST
)
"""The facts that a benchmark asks for, a row each, followed by empty rows for further ones."""


class FactField(forms.CharField):
    """Field for a system's value of one fact."""

    def __init__(self, fact: Fact, stored: Mapping[str, Any]) -> None:
        self.fact = fact
        answers = [("", "not stated"), ("yes", "yes"), ("no", "no")]
        widget = forms.Select(choices=answers) if fact.kind == "yes-no" else forms.TextInput()
        value = fact.value(stored)
        initial = f"{value:.15g}" if fact.is_number and value is not None else facts.shown(value)
        most = LONGEST_TEXT if fact.kind == "text" else None
        super().__init__(required=False, label=fact.title, initial=initial, widget=widget, max_length=most)
        if fact.is_number:
            self.widget.attrs["inputmode"] = "decimal"
            self.help_text = "A number, such as 7e9."

    def clean(self, value: Any) -> facts.Value | None:
        try:
            return self.fact.parse(super().clean(value))
        except ValueError as error:
            raise ValidationError(f"{error}.") from error
