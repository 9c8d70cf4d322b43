"""Names as sequences of tokens, so that names with common tokens share parameters or counts."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from itertools import accumulate

import numpy as np

from evaluator.reference_systems.graphs.graph import Ints
from evaluator.tasks.base import Option

MODES = ("off", "shared")


def parse_mode(text: str) -> bool:
    """Return True for `shared`. Raises ValueError for any text but `off` and `shared`."""
    if text not in MODES:
        raise ValueError("off or shared")
    return text == "shared"


TOKENS = Option(
    "tokens",
    "shared: a name is the mean of its lower-cased tokens, which other names share; off: each name is on its own.",
    "off",
    parse_mode,
)


class Tokens:
    """The distinct tokens of a list of names, and the tokens of each name.

    names: the distinct tokens, sorted. The name with index i in the list has the tokens numbers[starts[i]:starts[i +
    1]], which are indices into `names`.
    """

    def __init__(self, names: Sequence[str], *, shared: bool) -> None:
        """Split the names into tokens, and number the distinct tokens.

        shared: True to split names at white space and ignore case; False: each name is one token.
        """
        self._shared = shared
        split = [self._split(name) for name in names]
        self.names = sorted({token for tokens in split for token in tokens})
        self._number = {token: number for number, token in enumerate(self.names)}
        self.starts: Ints = np.array([0, *accumulate(len(tokens) for tokens in split)], dtype=np.int64)
        flat = (self._number[token] for tokens in split for token in tokens)
        self.numbers: Ints = np.fromiter(flat, dtype=np.int64, count=int(self.starts[-1]))

    def of(self, name: str) -> list[int]:
        """Return the numbers of the tokens of any name; tokens that no name of the list has are left out."""
        return [self._number[token] for token in self._split(name) if token in self._number]

    def of_names(self, numbers: Ints | None) -> tuple[Ints, Ints]:
        """Return (the concatenated token numbers of these names of the list, how many tokens each name has).

        numbers: indices of names in the list; None: all.
        """
        lengths = np.diff(self.starts)
        if numbers is None:
            return self.numbers, lengths
        counts = lengths[numbers]
        positions = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return self.numbers[np.repeat(self.starts[numbers], counts) + positions], counts

    def twice(self) -> Tokens:
        """Return the tokens of the list of names followed by a copy of the list, whose tokens get new numbers.

        This is for names with two vectors each, such as a relation and its reciprocal.
        """
        doubled = copy(self)
        doubled.names = self.names * 2
        doubled.numbers = np.concatenate([self.numbers, self.numbers + len(self.names)])
        doubled.starts = np.concatenate([self.starts, self.starts[1:] + self.starts[-1]])
        return doubled

    def _split(self, name: str) -> Sequence[str]:
        return (name.lower().split() or (name,)) if self._shared else (name,)
