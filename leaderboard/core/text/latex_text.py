"""Escaping of text for TeX and BibTeX."""

from __future__ import annotations

import re
import unicodedata

from leaderboard.core.text.plain_text import one_line

_SIGNS = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    # BibTeX counts braces even after a backslash, so these replacements are balanced.
    "{": r"\textbraceleft{}",
    "}": r"\textbraceright{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    # The OT1 font encoding has other characters at these code points.
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}
_TABLE = str.maketrans({**_SIGNS, "\0": "{}"})

# TeX ligatures: two hyphens become a dash, a question mark and a grave accent an inverted question mark.
_JOINED = re.compile(r"(?<=-)(?=-)|(?<=[!?`])(?=`)|(?<=')(?=')|(?<=,)(?=,)")


def escaped(text: str) -> str:
    """Return the text as one line that TeX typesets literally. Its braces are balanced, which BibTeX needs.

    Text is normalized to NFC, because pdfTeX cannot typeset combining accents.
    """
    line = _JOINED.sub("\0", unicodedata.normalize("NFC", one_line(text)))
    return line.translate(_TABLE)
