"""Names in a text, exchanged all at once."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping


def renamed(text: str, moved: Mapping[str, str], others: Iterable[str] = ()) -> str:
    """The text with every whole name that `moved` knows exchanged for another, none of them twice.

    others: longer names that stay, whatever they hold: with `Uldale Academy` among them, its `Uldale` is no town.
    """
    if not moved:
        return text
    known = {name for name in (*moved, *others) if name}
    return _pattern(known).sub(lambda match: moved.get(match[0], match[0]), text)


def standing_in(text: str, names: Collection[str], others: Iterable[str] = ()) -> set[str]:
    """Which of the names the text has, beside those inside longer ones."""
    known = {name for name in (*names, *others) if name}
    return {match[0] for match in _pattern(known).finditer(text)} & set(names) if known else set()


def _pattern(names: Collection[str]) -> re.Pattern[str]:
    longest = sorted(names, key=lambda name: (-len(name), name))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)")
