"""Form field for a task's options: one NAME=VALUE per line."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError


class OptionsField(forms.CharField):
    """Form field that parses lines such as `fold=4` into a dict."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("help_text", "One NAME=VALUE per line. The task's page lists the options.")
        super().__init__(required=False, widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}), **kwargs)

    def clean(self, value: Any) -> dict[str, str]:
        options: dict[str, str] = {}
        for number, line in enumerate(super().clean(value).splitlines(), start=1):
            name, equals, text = (part.strip() for part in line.partition("="))
            if not line.strip():
                continue
            if not (name and equals):
                raise ValidationError(f"Line {number} is {line!r}; expected NAME=VALUE.")
            if name in options:
                raise ValidationError(f"Line {number} repeats {name}; expected each option once.")
            options[name] = text
        return options
