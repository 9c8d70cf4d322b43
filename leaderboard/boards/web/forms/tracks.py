"""Form for a phase's tracks: one NAME | TITLE | DESCRIPTION per line."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from leaderboard.boards.queries import tracks
from leaderboard.models import Phase

PARTS = ("name", "title", "description")


class TracksField(forms.CharField):
    """Text area whose lines are parsed to the value of `Phase.tracks`."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault(
            "help_text",
            "Each submission declares one of these tracks. One NAME | TITLE | DESCRIPTION per line, such as "
            "<code>thorough | Thorough | Trained on the cleaned triples</code>. Empty: no tracks.",
        )
        super().__init__(required=False, widget=forms.Textarea(attrs={"rows": 6, "spellcheck": "false"}), **kwargs)

    def clean(self, value: Any) -> tracks.Stored:
        lines = [line for line in super().clean(value).splitlines() if line.strip()]
        rows = []
        for number, line in enumerate(lines, start=1):
            parts = [part.strip() for part in line.split("|", 2)]
            if len(parts) < 2 or not all(parts[:2]):
                raise ValidationError(f"Line {number} is {line!r}; expected NAME | TITLE | DESCRIPTION.")
            rows.append(dict(zip(PARTS, parts, strict=False)))
        try:
            return tracks.validated(rows)
        except ValueError as error:
            raise ValidationError(f"The tracks are not valid: {error}.") from error


class TracksForm(forms.Form):
    """Form to edit the tracks of an existing phase."""

    tracks = TracksField()


def as_lines(phase: Phase) -> str:
    """Return a phase's tracks in the format of TracksField."""
    return "\n".join(
        " | ".join(filter(None, (track.name, track.title, track.description))) for track in tracks.of(phase)
    )
