"""Forms to export and import a benchmark."""

from __future__ import annotations

from typing import Any

from django import forms


class ExportForm(forms.Form):
    """Form to export a benchmark: a passphrase and public keys, one per line, for the archive's closed part."""

    passphrase = forms.CharField(
        required=False,
        max_length=500,
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
        help_text="At least 12 characters. It opens the archive, and is not stored afterwards: write it down.",
    )
    repeated = forms.CharField(
        required=False,
        max_length=500,
        strip=False,
        widget=forms.PasswordInput({"autocomplete": "new-password"}),
        label="Repeat the passphrase",
    )
    recipients = forms.CharField(
        required=False,
        max_length=20_000,
        widget=forms.Textarea({"rows": 3, "class": "mono", "spellcheck": "false", "autocomplete": "off"}),
        label="Public keys",
        help_text="One per line: age1…, as printed by age-keygen or archive_key. Each can open the archive too.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["repeated"].is_conditional = True  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("passphrase") != data.get("repeated"):
            self.add_error("repeated", "The two passphrases differ.")
        return data

    def clean_recipients(self) -> str:
        """Return the public keys as entered. Raises ValidationError for secret keys, and does not show them again."""
        typed = str(self.cleaned_data["recipients"])
        if "AGE-SECRET-KEY" in typed.upper():
            self.data = {**self.data, "recipients": ""}
            raise forms.ValidationError(
                "This is a secret key; expected public keys, which begin with age1. It was not stored."
            )
        return typed


class ImportForm(forms.Form):
    """Form to upload an archive."""

    file = forms.FileField(label="Archive", max_length=300, allow_empty_file=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["file"].widget.attrs["accept"] = ".zip,application/zip"


class KeyForm(forms.Form):
    """Form to import an uploaded archive: the passphrase or secret key that decrypts it, never rendered into a page."""

    key = forms.CharField(
        max_length=4_000,
        widget=forms.PasswordInput({"class": "mono", "spellcheck": "false", "autocomplete": "off"}),
        label="Passphrase or secret key",
        help_text="The passphrase of the export, or AGE-SECRET-KEY-1… It opens this archive, and is not stored "
        "afterwards.",
    )
