"""Hints about texts of predictions that are probably spelled otherwise than gold's, and then match nothing.

Texts are compared character by character. The hints depend on the predictions and the public inputs alone.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from evaluator.errors import shown

SAMPLE = 20_000
"""Number of a file's texts that are examined: a system's way to spell shows in any of them."""
_FEW = 10  # fewer texts of inputs do not show how gold is spelled
_MAX_INPUTS = 20_000  # texts of the inputs that are examined


@dataclass(frozen=True)
class Trait:
    """A way to spell. text: follows "3 of 7 mentions, such as X, ". has: True if a text, or several joined, has it.

    likely: True if gold rarely has it; False if it tells something only where no text of the inputs has it.
    """

    text: str
    has: Callable[[str], bool]
    likely: bool = True


_ESCAPED = re.compile(r"%[0-9A-Fa-f]{2}").search
_SPACED = re.compile(r"(?:^|\|)\s|\s(?:\||$)|\s\s").search
JOINT = "|"

_SPACES = Trait("begin or end with white space, or have it twice in a row", lambda text: bool(_SPACED(text)))
_INVISIBLE = Trait(
    "have characters that cannot be seen, such as non-breaking spaces", lambda text: not text.isprintable()
)
_PERCENT = Trait("are percent-encoded, as in web addresses", lambda text: "%" in text and bool(_ESCAPED(text)))
_DECOMPOSED = Trait(
    "have letters and accents as separate characters (NFD)", lambda text: not unicodedata.is_normalized("NFC", text)
)

NAMES = (
    _SPACES,
    _INVISIBLE,
    _PERCENT,
    _DECOMPOSED,
    Trait("have underscores, and no text of the inputs has", lambda text: "_" in text, likely=False),
    Trait("have capital letters, and no text of the inputs has", lambda text: text != text.lower(), likely=False),
)
"""Traits of names in running text."""

FEVER_PAGES = (
    Trait("have spaces, where FEVER's names of pages have underscores", lambda text: " " in text),
    Trait(
        "have brackets or colons, which FEVER's names of pages write -LRB-, -RRB-, -LSB-, -RSB- and -COLON-",
        lambda text: any(character in text for character in "()[]:"),
    ),
    Trait(
        "have letters with accents as one character (NFC), where FEVER's names of pages have two (NFD)",
        lambda text: not unicodedata.is_normalized("NFD", text),
    ),
    _INVISIBLE,
    _PERCENT,
)
"""Traits that no name of a page in FEVER's files has."""


def traits_of(texts: Iterable[str], traits: Iterable[Trait] = NAMES) -> frozenset[Trait]:
    """Return the traits that any of the public inputs' texts has; all of them if there are too few texts to tell.

    Those that gold rarely has are then left out.
    """
    known = [text for text, _ in zip(texts, range(_MAX_INPUTS), strict=False)]
    joined = JOINT.join(known)
    too_few = len(known) < _FEW
    return frozenset(trait for trait in traits if trait.has(joined) or (too_few and not trait.likely))


def fold(text: str) -> str:
    """Return a text without what often differs between spellings of a name: case, form of letters, separators."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().replace("_", " ").split())


class Spellings:
    """The first SAMPLE texts of a predictions file, from which hints are made.

    what: what the texts are, in the plural. traits: those that are reported. usual: the traits that the inputs' texts
    have.
    """

    def __init__(self, file: str, what: str, traits: Iterable[Trait], usual: frozenset[Trait] = frozenset()) -> None:
        self._file = file
        self._what = what
        self._traits = [trait for trait in traits if trait not in usual]
        self._texts: list[str] = []
        self._lines: list[int] = []

    @property
    def is_full(self) -> bool:
        return len(self._texts) >= SAMPLE

    def add(self, text: str, line: int) -> None:
        """Add a text of the line with the number `line`."""
        if len(self._texts) < SAMPLE:
            self._texts.append(text)
            self._lines.append(line)

    def hints(self) -> list[str]:
        """Return one sentence for each trait that at least one in two hundred texts has."""
        joined = JOINT.join(self._texts)
        hints = []
        for trait in self._traits:
            indices = [i for i, text in enumerate(self._texts) if trait.has(text)] if trait.has(joined) else []
            if len(indices) * 200 < max(len(self._texts), 1):
                continue
            example = f"{shown(self._texts[indices[0]])} (line {self._lines[indices[0]]})"
            hints.append(
                f"{self._file}: {len(indices)} of {len(self._texts)} {self._what}, such as {example}, {trait.text}; "
                "they are compared character by character"
            )
        return hints
