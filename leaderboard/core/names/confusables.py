"""Replacement of characters by others that look alike, in all scripts, to find confusable names.

Characters that look alike are those of Unicode's table (UTS 39, confusables.txt next to this module), and some that
look alike only at a leaderboard's font size. Two letters that together look like one, such as rn and m, are replaced by
`joined`, because they depend on case. `first_confusable` in `names` compares names.
"""

from __future__ import annotations

import functools
import unicodedata
from pathlib import Path

DATA = Path(__file__).with_name("confusables.txt")
"""Unicode's table: https://www.unicode.org/Public/security/17.0.0/confusables.txt, with UNICODE-LICENSE.txt."""
SHA256 = "ec88ecebcf89f63f813d460842b0cf8322744b40a0b2c06f88a2cea48c0351ea"
# Characters to which Unicode's table leads, and that look like these too: small capitals, the Cyrillic and Greek k, a
# long dash.
_ALSO = str.maketrans({"Ԛ": "Q", "ĸ": "k", "ʟ": "L", "ʍ": "M", "ᴅ": "D", "ー": "-"})
# These are in Unicode's table too, but for them case and context matter: see `skeleton` and `joined`.
_SEPARATE = frozenset("01I|m")
# A capital L does not look like a 1: ROUGE-1 and ROUGE-L must differ after case folding, so L is mapped to a control
# character, which no name contains.
_DIGITS = str.maketrans({"0": "O", "1": "l", "I": "l", "|": "l", "L": "\x01"})
# M and D look like neither rn nor cl: CERN and Cem, or CEM and Cern, must differ after case folding.
_ALONE = str.maketrans({"M": "\x02", "D": "\x03", "w": "vv", "W": "VV"})


def pairs() -> dict[str, str]:
    """Return Unicode's table: character -> text that looks like it, in which no key of the table occurs."""
    result = {}
    for line in DATA.read_text(encoding="utf-8").splitlines():
        source, _, rest = line.partition("#")[0].partition(";")
        if rest:
            result[_text(source)] = _text(rest.partition(";")[0])
    return result


def _text(numbers: str) -> str:
    return "".join(chr(int(number, 16)) for number in numbers.split())


@functools.cache
def _table() -> dict[int, str]:
    """Return the table of confusables for str.translate: code point -> text that looks like it.

    The characters that `skeleton` and `joined` replace are not in it.
    """
    return {ord(source): text.translate(_ALSO) for source, text in pairs().items() if source not in _SEPARATE} | _ALSO


def latin(name: str) -> str:
    """Replace each character by the one that stands for all that look like it, and normalize the text (NFKC).

    That is a Latin character if one of those that look alike is Latin.
    """
    for _ in range(2):  # the normalized text may have characters of the table
        name = unicodedata.normalize("NFKC", name.translate(_table()))
    return name


def skeleton(name: str) -> str:
    """Return `latin(name)` in which digits and letters that look alike are the same: 0 and O; 1, I, | and l."""
    return latin(name).translate(_DIGITS)


def joined(text: str) -> str:
    """Replace rn by m, cl by d, and w by vv, so that texts that look alike become equal.

    Apply this before case folding: capital M and D look like neither rn nor cl.
    """
    return text.translate(_ALONE).replace("rn", "m").replace("cl", "d")
