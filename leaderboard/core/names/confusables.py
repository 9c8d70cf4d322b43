# ruff: noqa: RUF001 - letters that look like others are what this is about
"""Names that a reader takes for one another: letters of other scripts that are drawn as Latin ones are.

The pairs are single letters of Unicode's confusables (UTS 39, confusables.txt) that fonts draw alike at the size of a
board, and the Cyrillic and Greek k and the long dash, which come close. What compatibility composition (NFKC) makes
plain Latin by itself is left out. Two letters that are drawn as one are looked for apart: there case matters.
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
    ord(there): here
    for theirs, ours in (_CYRILLIC, _GREEK, _ARMENIAN, _CHEROKEE, _LISU, _LATIN, _SIGNS)
    for there, here in zip(theirs, ours, strict=True)
}
# A capital L is not drawn as a 1 is: ROUGE-1 and ROUGE-L are two names, though case is passed over. So a sign that no
# name holds stands for it.
_DIGITS = str.maketrans({"0": "O", "1": "l", "I": "l", "|": "l", "L": "\x01"})
# M and D are drawn as neither rn nor cl is: CERN and Cem, or CEM and Cern, are two names, though case is passed over.
_ALONE = str.maketrans({"M": "\x02", "D": "\x03", "w": "vv", "W": "VV"})


def latin(name: str) -> str:
    """With the letters that stand for Latin ones as those, composed (NFKC)."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).translate(_LETTERS))


def skeleton(name: str) -> str:
    """The same with the digits and letters as one that fonts draw alike: 0 and O; 1, I, | and l."""
    return latin(name).translate(_DIGITS)


def joined(text: str) -> str:
    """With two letters that fonts draw as one as that one: rn and m, cl and d, vv and w. Before case is passed over."""
    return text.translate(_ALONE).replace("rn", "m").replace("cl", "d")
