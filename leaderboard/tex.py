"""Text as TeX and BibTeX take it."""

from __future__ import annotations

from leaderboard.plain import one_line

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


def escaped(text: str) -> str:
    """One line of it that TeX sets as it stands, and in which BibTeX finds as many opening braces as closing ones."""
    return "".join(_SIGNS.get(sign, sign) for sign in one_line(text))
