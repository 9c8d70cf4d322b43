"""Counts with English nouns."""

from __future__ import annotations


def count_noun(n: int, noun: str, plural: str = "") -> str:
    """Return `1 error` or `2,000 errors`. plural: the noun's plural form, unless it only adds an s."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
