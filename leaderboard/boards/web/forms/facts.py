"""Forms for the facts that a benchmark asks for, and for a system's values of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from leaderboard.boards.queries import facts
from leaderboard.boards.queries.facts import KINDS, LONGEST_TEXT, Fact, Stored


class FactsForm(forms.Form):
    """Form to edit the facts that a benchmark asks for, one NAME | TITLE | KIND per line."""

    facts = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}),
        help_text="One NAME | TITLE | KIND per line, such as <code>parameters | Parameters | number</code>. Kinds: "
        f"{', '.join(KINDS)}. Empty: no facts.",
    )

    def clean_facts(self) -> Stored:
        rows = []
        for number, line in enumerate(self.cleaned_data["facts"].splitlines(), start=1):
            parts = [part.strip() for part in line.split("|")]
            if line.strip() and len(parts) != 3:
                raise ValidationError(f"Line {number} is {line!r}; expected NAME | TITLE | KIND.")
            if line.strip():
                rows.append(dict(zip(("name", "title", "kind"), parts, strict=True)))
        try:
            return facts.validated(rows)
        except ValueError as error:
            raise ValidationError(f"The facts are not valid: {error}.") from error


def as_lines(asked: Sequence[Fact]) -> str:
    """Return facts in the format of FactsForm."""
    return "\n".join(f"{fact.name} | {fact.title} | {fact.kind}" for fact in asked)


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
