"""Names as one line of plain text, for formats in which a line's end or a turned direction would do harm."""

from __future__ import annotations

import unicodedata

_LEFT_OUT = {"Cc", "Cf", "Cs", "Co", "Cn"}
_JOINERS = "\u200c\u200d"
"""Format characters that spell: Persian, the Indic scripts and emoji need them."""


def one_line(text: str) -> str:
    """Without line ends, control characters and overrides of the writing direction, each run of spaces one space."""
    spaced = "".join(" " if sign.isspace() else sign for sign in text)
    kept = (sign for sign in spaced if sign in _JOINERS or unicodedata.category(sign) not in _LEFT_OUT)
    return " ".join("".join(kept).split())


def shortened(text: str, most: int) -> str:
    """At most `most` characters, the last of them an ellipsis where some are left out."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"


def turns_round(text: str) -> bool:
    """Whether some of it is written from right to left."""
    return any(unicodedata.bidirectional(sign) in ("R", "AL") for sign in text)
