"""Text for readers: counts with English nouns, values of slices."""

from __future__ import annotations

import json


def count_noun(n: int, noun: str, plural: str = "") -> str:
    """Return `1 error` or `2,000 errors`. plural: the noun's plural form, unless it only adds an s."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"


def slice_text(value: str | int | float | bool) -> str:
    """Return the value for display: as JSON, strings without their quotes."""
    return value if isinstance(value, str) else json.dumps(value)
