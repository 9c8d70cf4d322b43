"""The tracks of a phase: what a submission says of itself that no score can tell, such as which data it learnt from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from leaderboard.models import Phase

NAME = re.compile(r"[a-z0-9][a-z0-9_-]*\Z")
MOST = 20
LONGEST = {"name": 80, "title": 200, "description": 1000}
"""Characters."""
Stored = list[dict[str, str]]


@dataclass(frozen=True)
class Track:
    """name: what addresses and commands say; title and description: what people read."""

    name: str
    title: str
    description: str = ""


def of(phase: Phase) -> list[Track]:
    """In the organisers' order; none where submissions declare nothing."""
    return [Track(one["name"], one["title"], one.get("description", "")) for one in phase.tracks]


def title_of(phase: Phase, name: str) -> str:
    """A track's title; its name, should it be none of the phase's."""
    return next((track.title for track in of(phase) if track.name == name), name)


def checked(given: Sequence[Mapping[str, object]]) -> Stored:
    """As a phase stores them; raises ValueError with the track at fault, what was found and what was expected."""
    if len(given) > MOST:
        raise ValueError(f"there are {len(given)} tracks, expected at most {MOST}")
    found = [_checked(number, dict(one)) for number, one in enumerate(given, start=1)]
    names = [track.name for track in found]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"the track {twice[0]} stands twice, expected each name once")
    return [asdict(track) for track in found]


def _checked(number: int, given: dict[str, object]) -> Track:
    if unknown := sorted(given.keys() - LONGEST):
        raise ValueError(f"track {number} has the key {unknown[0]!r}, expected name, title and description")
    texts: dict[str, str] = {}
    for key, most in LONGEST.items():
        text = given.get(key, "")
        if not isinstance(text, str) or len(text) > most:
            raise ValueError(f"the {key} of track {number} is no text, or too long: expected at most {most} characters")
        texts[key] = text.strip()
    if not NAME.match(texts["name"]):
        raise ValueError(
            f"the name of track {number} is {texts['name']!r}, "
            "expected lower-case letters, digits, hyphens and underscores"
        )
    return Track(texts["name"], texts["title"] or texts["name"], texts["description"])
