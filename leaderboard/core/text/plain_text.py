"""Sanitizing of text to one line, for mails, TeX and other formats in which line ends or control characters do harm."""

from __future__ import annotations

import unicodedata

_LEFT_OUT = {"Cc", "Cf", "Cs", "Co", "Cn"}
_JOINERS = "\u200c\u200d"
"""Zero-width (non-)joiners: the spelling of Persian, Indic scripts and emoji needs them."""


def one_line(text: str) -> str:
    """Remove line ends, control characters and bidirectional overrides, and collapse each run of spaces into one."""
    if text.isascii() and text.isprintable():
        return " ".join(text.split())
    spaced = "".join(" " if sign.isspace() else sign for sign in text)
    visible = (sign for sign in spaced if sign in _JOINERS or unicodedata.category(sign) not in _LEFT_OUT)
    return " ".join("".join(visible).split())


def shortened(text: str, most: int) -> str:
    """Truncate a text to at most `most` characters, the last of which is an ellipsis if anything was cut."""
    return text if len(text) <= most else text[: most - 1].rstrip() + "\N{HORIZONTAL ELLIPSIS}"


def turns_round(text: str) -> bool:
    """Return whether the text contains characters of a script that is written from right to left."""
    return any(unicodedata.bidirectional(sign) in ("R", "AL") for sign in text)
