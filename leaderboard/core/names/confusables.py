# ruff: noqa: RUF001 - this module is about confusable letters
"""Confusable names: letters of other scripts that look like Latin ones.

The pairs are single letters of Unicode's confusables (UTS 39, confusables.txt) that look the same at a board's font
size, and the similar Cyrillic and Greek k and long dash. Letters that NFKC maps to Latin are left out. Pairs of letters
that look like one (`joined`) are handled separately, because case matters there.
Names are compared by `first_confusable` in `names`.
"""

from __future__ import annotations

import unicodedata

_CYRILLIC = ("АВСЕНІЈКМОРЅТХҮУѴӀԚԜԌасекорхуѕіјһѵӏԁԛԝ", "ABCEHIJKMOPSTXYYVIQWGacekopxysijhvldqw")
_GREEK = ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧͿαγικνορσυϳ", "ABEZHIKMNOPTYXJayikvopouj")
_ARMENIAN = ("ՍՏՕհոսցօ", "USOhnugo")
_CHEROKEE = ("ᎠᎡᎢᎪᎫᎬᎳᎷᎻᏀᏃᏒᏔᏚᏙᏞᏟᏢᏦᏴ", "DRTAJEWMHGZRWSVLCPKB")
_LISU = ("ꓐꓑꓓꓔꓖꓗꓙꓚꓜꓝꓟꓠꓡꓢꓣꓦꓧꓪꓫꓬꓮꓰꓲꓳꓴ", "BPDTGKJCZFMNLSRVHWXYAEIOU")
_LATIN = ("ıɑɡɩʋƖǀʟᴍᴅ", "iagiullLMD")
_SIGNS = ("‐‒–—−‘’ʼ′`", "-----'''''")
_LETTERS = {
    ord(foreign): letter
    for foreign_letters, letters in (_CYRILLIC, _GREEK, _ARMENIAN, _CHEROKEE, _LISU, _LATIN, _SIGNS)
    for foreign, letter in zip(foreign_letters, letters, strict=True)
}
# A capital L does not look like a 1: ROUGE-1 and ROUGE-L must differ after case folding, so L is mapped to a control
# character, which no name contains.
_DIGITS = str.maketrans({"0": "O", "1": "l", "I": "l", "|": "l", "L": "\x01"})
# M and D look like neither rn nor cl: CERN and Cem, or CEM and Cern, must differ after case folding.
_ALONE = str.maketrans({"M": "\x02", "D": "\x03", "w": "vv", "W": "VV"})


def latin(name: str) -> str:
    """Replace letters of other scripts that look like Latin ones, and normalize (NFKC)."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).translate(_LETTERS))


def skeleton(name: str) -> str:
    """Return `latin(name)` with similar digits and letters unified: 0 and O; 1, I, | and l."""
    return latin(name).translate(_DIGITS)


def joined(text: str) -> str:
    """Unify pairs of letters with the letter that they look like: rn to m, cl to d, w to vv.

    Apply this before case folding.
    """
    return text.translate(_ALONE).replace("rn", "m").replace("cl", "d")
