"""Simultaneous replacement of names in a text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping


def replace_names(text: str, moved: Mapping[str, str], others: Iterable[str] = ()) -> str:
    """Return the text with every whole name in `moved` replaced, all at once.

    moved: name -> its new name. others: longer names that stay as they are: if `Uldale Academy` is one of them, the
    `Uldale` in it is not replaced.
    """
    if not moved:
        return text
    all_names = {name for name in (*moved, *others) if name}
    return _pattern(all_names).sub(lambda match: moved.get(match[0], match[0]), text)


def names_in(text: str, names: Collection[str], others: Iterable[str] = ()) -> set[str]:
    """Return the names of `names` that occur in the text, except inside a longer name of `names` or `others`."""
    all_names = {name for name in (*names, *others) if name}
    return {match[0] for match in _pattern(all_names).finditer(text)} & set(names) if all_names else set()


def _pattern(names: Collection[str]) -> re.Pattern[str]:
    longest = sorted(names, key=lambda name: (-len(name), name))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)")
