"""Which names can stand on a board, and which two of them a reader could not tell apart."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from leaderboard.core.names import confusables
from leaderboard.core.names.anonymous import NOBODY
from leaderboard.core.refusal import Code, Refused

# What turns the direction of the text after it, on the boards of everybody else.
BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Letters without a shape: the fillers of Hangul, and the joiner of graphemes.
_BLANK = frozenset("\u034f\u115f\u1160\u3164\uffa0")
UNREAD = "\ufffd"
_JOINERS = "\u200c\u200d"
# Letters without case, their marks, and pictures: what joiners spell, as in Persian and emoji, is of these.
_JOINED = frozenset({"Lo", "Lm", "Mn", "Mc", "So", "Sk"})
# With letters in the place of digits, too; a word that only begins like them, such as a Lol, is somebody's.
_OF_NOBODY = re.compile(rf"{NOBODY.replace('o', '[o0]')}[\s#._-]*(\d*|[oil|\d]*\d[oil|\d]*|[il|]{{1,2}})")
# Every l as an i, as `_AS_I` makes of all that is drawn as one.
_OF_THE_SITE = re.compile(r"(the)?(reported(inpapers?)?|baseiines?|organi[sz]ers?|humanperformance)")
"""What boards call rows that are no team's, and the line that they draw of people; without what parts words."""
# After looks.skeleton and looks.joined: the last three are the signs for L, M and D, which in these words are letters.
_AS_I = str.maketrans({"l": "i", "\x01": "i", "\x02": "m", "\x03": "d"})
_OF_BASELINES = re.compile(r"(the )?baseiines? of .+")


def checked(name: str, *, of: str, longest: int) -> str:
    """The name on one line; raises Refused INVALID_NAME for one that cannot stand on a board."""
    name = " ".join(name.split())
    if not 1 <= len(name) <= longest:
        raise Refused(Code.INVALID_NAME, f"The {of}'s name has {len(name)} characters; expected 1 to {longest}.")
    check_signs(name, of=f"{of}'s name")
    if UNREAD in name:
        told = "holds U+FFFD, which stands for what could not be read"
        raise Refused(Code.INVALID_NAME, f"The {of}'s name {told}; expected text in UTF-8.")
    unseen = next((sign for place, sign in enumerate(name) if _is_hidden(name, place)), None)
    if unseen is not None:
        what = f"U+{ord(unseen):04X}, which cannot be seen"
        raise Refused(Code.INVALID_NAME, f"The {of}'s name holds {what}; expected text without it.")
    if {unicodedata.category(character) for character in name} <= {"Zs", "Mn"}:
        raise Refused(Code.INVALID_NAME, f"The {of}'s name cannot be seen; expected text.")
    if any(map(_OF_NOBODY.fullmatch, _read(name))):
        told = "stands for those that show no name"
        raise Refused(Code.INVALID_NAME, f"The {of}'s name {told}; expected another one.")
    return name


def check_signs(text: str, *, of: str, lines: bool = False) -> None:
    """Raises Refused INVALID_NAME for controls and turned directions. lines: line ends and tabs are welcome."""
    welcome = "\r\n\t" if lines else ""
    for sign in text:
        if sign in BIDI_CONTROLS or (unicodedata.category(sign) == "Cc" and sign not in welcome):
            raise Refused(Code.INVALID_NAME, f"The {of} holds a control character, U+{ord(sign):04X}; expected text.")


def key(name: str) -> str:
    """Equal for names that differ in case, width, composition or unseen characters alone (NFKC, case folded)."""
    if name.isascii():  # most names, of which somebody who founds a team has to be held beside all
        return " ".join(name.split()).casefold()
    seen = (sign for sign in unicodedata.normalize("NFKC", name) if not _is_unseen(sign))
    return unicodedata.normalize("NFKC", " ".join("".join(seen).split()).casefold())


def first_alike(name: str, taken: Iterable[str]) -> str | None:
    """The first of the names that a reader may take for this one: they differ by what `key` passes over, or by letters
    and digits that are drawn alike, one for one or two as one."""
    wanted = _drawn(name)
    return next((one for one in taken if any(map(str.__eq__, _drawn(one), wanted))), None)


def is_the_sites(name: str) -> bool:
    """Whether it looks like what boards call organisers, baselines and rows of papers."""
    drawn = [one.translate(_AS_I) for one in _drawn(name)]
    return any(_OF_THE_SITE.fullmatch(re.sub(r"[\W_]+", "", one)) for one in drawn)


def is_of_baselines(name: str) -> bool:
    """Whether it looks like the name of a team that a benchmark's baselines are submitted for."""
    return any(_OF_BASELINES.fullmatch(one.translate(_AS_I)) for one in _drawn(name))


def _drawn(name: str) -> tuple[str, str, str]:
    skeleton = confusables.skeleton(name)
    return key(name), key(skeleton), key(confusables.joined(skeleton))


def _read(name: str) -> tuple[str, str]:
    """As a reader may take it; digits stay digits."""
    latin = confusables.latin(name)
    return key(latin), key(confusables.joined(latin))


def _is_hidden(name: str, place: int) -> bool:
    """Whether a name may not hold what stands there, since nobody would see it."""
    sign = name[place]
    if sign in _JOINERS and 0 < place < len(name) - 1:
        return not {unicodedata.category(name[place - 1]), unicodedata.category(name[place + 1])} <= _JOINED
    return unicodedata.category(sign) == "Cf" or sign in _BLANK


def _is_unseen(sign: str) -> bool:
    is_variation = "\ufe00" <= sign <= "\ufe0f" or "\U000e0100" <= sign <= "\U000e01ef"
    return is_variation or sign in _BLANK or unicodedata.category(sign) == "Cf"
