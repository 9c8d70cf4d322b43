"""Validation of names that boards show, and detection of confusable names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from leaderboard.core.names import confusables
from leaderboard.core.names.anonymous import NOBODY
from leaderboard.core.refusal import Code, Refused

# Bidirectional controls, which change the direction of text that follows them on a page.
BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Invisible letters: the Hangul fillers and the combining grapheme joiner.
_BLANK = frozenset("\u034f\u115f\u1160\u3164\uffa0")
UNREAD = "\ufffd"
_JOINERS = "\u200c\u200d"
# Categories that joiners may connect (as in Persian and emoji): letters without case, marks and symbols.
_JOINED = frozenset({"Lo", "Lm", "Mn", "Mc", "So", "Sk"})
# "anonymous", with an optional number in which letters may replace digits; longer words that begin so are allowed.
_ANONYMOUS = re.compile(rf"{NOBODY.replace('o', '[o0]')}[\s#._-]*(\d*|[oil|\d]*\d[oil|\d]*|[il|]{{1,2}})")
# The patterns have an i for every l, because names are translated with `_AS_I` before they are matched.
_OF_THE_SITE = re.compile(r"(the)?(reported(inpapers?)?|baseiines?|organi[sz]ers?|humanperformance)")
"""Names that boards use for rows without a team and for human performance; without word separators."""
# Applied after confusables.skeleton and joined, whose substitutes for L, M and D are mapped back to letters here.
_AS_I = str.maketrans({"l": "i", "\x01": "i", "\x02": "m", "\x03": "d"})
_OF_BASELINES = re.compile(r"(the )?baseiines? of .+")


def checked(name: str, *, of: str, longest: int) -> str:
    """Return the name with each run of spaces collapsed into one. Raises Refused INVALID_NAME for an invalid name.

    A name must have 1 to `longest` characters, some of them visible and none invisible, and must not look like
    "Anonymous" with or without a number. of: kind of object that has the name, such as "team", for error messages.
    """
    name = " ".join(name.split())
    if not 1 <= len(name) <= longest:
        raise Refused(Code.INVALID_NAME, f"The {of}'s name has {len(name)} characters; expected 1 to {longest}.")
    check_signs(name, of=f"{of}'s name", refuse=Code.INVALID_NAME)
    if UNREAD in name:
        problem = "contains U+FFFD, which replaces bytes that could not be decoded"
        raise Refused(Code.INVALID_NAME, f"The {of}'s name {problem}; expected text in UTF-8.")
    unseen = next((sign for index, sign in enumerate(name) if _is_hidden(name, index)), None)
    if unseen is not None:
        what = f"an invisible character, U+{ord(unseen):04X}"
        raise Refused(Code.INVALID_NAME, f"The {of}'s name contains {what}; expected text without it.")
    if {unicodedata.category(character) for character in name} <= {"Zs", "Mn"}:
        raise Refused(Code.INVALID_NAME, f"The {of}'s name has no visible characters; expected text.")
    if any(map(_ANONYMOUS.fullmatch, _reading_keys(name))):
        problem = "is reserved for anonymous systems"
        raise Refused(Code.INVALID_NAME, f"The {of}'s name {problem}; expected another one.")
    return name


def check_signs(text: str, *, of: str, lines: bool = False, refuse: Code = Code.INVALID_VALUE) -> None:
    """Raise Refused for a text with control characters or bidirectional controls.

    of: noun for the text in the error message. lines: True allows line ends and tabs. refuse: the code.
    """
    allowed = "\r\n\t" if lines else ""
    for sign in text:
        if sign in BIDI_CONTROLS or (unicodedata.category(sign) == "Cc" and sign not in allowed):
            what = f"a control character, U+{ord(sign):04X}"
            raise Refused(refuse, f"The {of} contains {what}; expected text without it.")


def key(name: str) -> str:
    """Return the name as a key that is equal for names that differ only in case, spaces or invisible characters.

    Unicode's variants of a character (width, composition) do not count either: the key is normalized to NFKC.
    """
    if name.isascii():  # shortcut for most names: a new team's is compared with all
        return " ".join(name.split()).casefold()
    seen = (sign for sign in unicodedata.normalize("NFKC", name) if not _is_unseen(sign))
    return unicodedata.normalize("NFKC", " ".join("".join(seen).split()).casefold())


def first_confusable(name: str, taken: Iterable[str]) -> str | None:
    """Return the first of the `taken` names that readers may confuse with `name`; None if there is none.

    Readers may confuse names with an equal `key`, and names that differ only in similar-looking characters, or in two
    letters that together look like one.
    """
    forms = _visual_keys(name)
    return next((other for other in taken if any(map(str.__eq__, _visual_keys(other), forms))), None)


class Looks:
    """A set of names that finds the one that readers may confuse with another name, as `first_confusable` does."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._names: list[dict[str, str]] = [{}, {}, {}, {}]
        for name in taken:
            for by_form, form in zip(self._names, _visual_keys(name), strict=True):
                by_form.setdefault(form, name)

    def like(self, name: str) -> str | None:
        """Return a name of the set that readers may confuse with `name`; None if there is none."""
        found = (by_form.get(form) for by_form, form in zip(self._names, _visual_keys(name), strict=True))
        return next(filter(None, found), None)


def is_the_sites(name: str) -> bool:
    """Return whether a name looks like a label that boards show instead of a team, such as Baselines or Organiser."""
    forms = [form.translate(_AS_I) for form in _visual_keys(name)]
    return any(_OF_THE_SITE.fullmatch(re.sub(r"[\W_]+", "", form)) for form in forms)


def is_of_baselines(name: str) -> bool:
    """Return whether a name looks like that of a benchmark's baselines team: "Baselines of ..."."""
    return any(_OF_BASELINES.fullmatch(form.translate(_AS_I)) for form in _visual_keys(name))


def is_of_deleted_account(name: str) -> bool:
    """Return whether a name looks like one that replaces a deleted user's or team's name: "Deleted account ..."."""
    forms = (re.sub(r"[\W_]+", "", form.translate(_AS_I)) for form in _visual_keys(name))
    return any(form.startswith("deietedaccount") for form in forms)


def _visual_keys(name: str) -> tuple[str, str, str, str]:
    skeleton = confusables.skeleton(name)
    return key(name), key(confusables.latin(name)), key(skeleton), key(confusables.joined(skeleton))


def _reading_keys(name: str) -> tuple[str, str]:
    """Return two keys (see `key`) of a name in which letters that look like Latin ones are replaced by these.

    In the second key, rn is also read as m, cl as d, and w as vv. Digits are not replaced by letters that look like
    them, unlike in `_visual_keys`.
    """
    latin = confusables.latin(name)
    return key(latin), key(confusables.joined(latin))


def _is_hidden(name: str, index: int) -> bool:
    """Return whether the character at an index of a name is invisible, and therefore not allowed.

    Zero-width joiners are allowed between characters that need them, as in Persian and emoji.
    """
    sign = name[index]
    if sign in _JOINERS and 0 < index < len(name) - 1:
        return not {unicodedata.category(name[index - 1]), unicodedata.category(name[index + 1])} <= _JOINED
    return unicodedata.category(sign) == "Cf" or sign in _BLANK


def _is_unseen(sign: str) -> bool:
    is_variation = "\ufe00" <= sign <= "\ufe0f" or "\U000e0100" <= sign <= "\U000e01ef"
    return is_variation or sign in _BLANK or unicodedata.category(sign) == "Cf"
