"""Text as TeX and BibTeX take it."""

from __future__ import annotations

import re
import unicodedata

from leaderboard.core.plain_text import one_line

_SIGNS = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    # BibTeX counts braces, whether a backslash is before them or not: these come in pairs.
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # The old font encoding has other signs in these places.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


# Fonts draw these pairs as one sign: two hyphens as a dash, a question mark and a grave accent as one upside down.
_JOINED = re.compile(r"(?<=-)(?=-)|(?<=[!?`])(?=`)|(?<=')(?=')|(?<=,)(?=,)")


def escaped(text: str) -> str:
    """One line of it that TeX sets as it stands, and in which BibTeX finds as many opening braces as closing ones.

    Letters are composed with their accents where Unicode has such a letter: pdfTeX knows no accent by itself.
    """
    line = _JOINED.sub("\0", unicodedata.normalize("NFC", one_line(text)))
    return "".join("{}" if sign == "\0" else _SIGNS.get(sign, sign) for sign in line)
