"""Tracks of a phase, declared by submissions: properties that no score can show, such as the training data used."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from leaderboard.models import Phase

NAME = re.compile(r"[a-z0-9][a-z0-9_-]*\Z")
MOST = 20
LONGEST = {"name": 80, "title": 200, "description": 1000}
"""Maximum length of each field, in characters."""
Stored = list[dict[str, str]]


@dataclass(frozen=True)
class Track:
    """One track of a phase. name: identifies it in URLs and commands. title, description: shown to viewers."""

    name: str
    title: str
    description: str = ""


def of(phase: Phase) -> list[Track]:
    """Return the phase's tracks in the organisers' order; empty if it has none."""
    return [Track(item["name"], item["title"], item.get("description", "")) for item in phase.tracks]


def title_of(phase: Phase, name: str) -> str:
    """Return a track's title, or its name if the phase has no such track."""
    return next((track.title for track in of(phase) if track.name == name), name)


def validated(new_tracks: Sequence[Mapping[str, object]]) -> Stored:
    """Validate and normalise tracks for storage; raise ValueError that names the first problem.

    new_tracks: dicts {"name", "title", "description"}. Without a title, the name is the title; the description is
    optional.
    """
    if len(new_tracks) > MOST:
        raise ValueError(f"there are {len(new_tracks)} tracks, expected at most {MOST}")
    tracks = [_checked(number, dict(item)) for number, item in enumerate(new_tracks, start=1)]
    names = [track.name for track in tracks]
    if duplicates := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"the track {duplicates[0]} is listed twice, expected each name once")
    return [asdict(track) for track in tracks]


def _checked(number: int, item: dict[str, object]) -> Track:
    if unknown := sorted(item.keys() - LONGEST):
        raise ValueError(f"track {number} has the key {unknown[0]!r}, expected name, title and description only")
    texts: dict[str, str] = {}
    for key, most in LONGEST.items():
        text = item.get(key, "")
        if not isinstance(text, str) or len(text) > most:
            found = f"has {len(text):,} characters" if isinstance(text, str) else f"is {str(text)[:40]}"
            raise ValueError(f"the {key} of track {number} {found}; expected text of at most {most} characters")
        texts[key] = text.strip()
    if not NAME.match(texts["name"]):
        raise ValueError(
            f"the name of track {number} is {texts['name']!r}, "
            "expected lower-case letters a-z, digits, hyphens and underscores, with a letter or digit first"
        )
    return Track(texts["name"], texts["title"] or texts["name"], texts["description"])
