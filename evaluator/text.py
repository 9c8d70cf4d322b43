"""How many of what, in English."""

from __future__ import annotations


def counted(n: int, noun: str, plural: str = "") -> str:
    """`1 error`, `2,000 errors`; plural where it is more than an s."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
