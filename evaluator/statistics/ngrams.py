"""The n-grams of many texts as arrays: what cue statistics and re-weighting count."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_TOKEN = re.compile(r"\w+")
FEVER_FREQUENT = ("the", "a", "in", "is", "was", "of", "by", "an", "film", "has")
"""The ten most frequent unigrams of FEVER's training claims (Schuster et al. 2019)."""


def tokens(text: str) -> list[str]:
    return _TOKEN.findall(text.lower())


def most_frequent(texts: Iterable[str], count: int = 10) -> list[str]:
    """The most frequent unigrams, most frequent first; of equals the first in the alphabet."""
    counts = Counter(token for text in texts for token in tokens(text))
    return sorted(counts, key=lambda token: (-counts[token], token))[:count]


@dataclass(frozen=True)
class Occurrences:
    """Every occurrence of every n-gram.

    gram, text: one number an occurrence, in the order of reading. parts: one row a distinct n-gram, n columns, numbers
    of `words`.
    """

    gram: npt.NDArray[np.int64]
    text: npt.NDArray[np.int64]
    parts: npt.NDArray[np.int64]
    words: list[str]

    @property
    def n_grams(self) -> int:
        return len(self.parts)

    def name(self, gram: int) -> str:
        return " ".join(self.words[part] for part in self.parts[gram])


def occurrences(texts: Sequence[str], *, n: int, drop: Collection[str] = ()) -> Occurrences:
    """The n-grams of the texts. drop: unigrams (lower case) that are taken out first, so that their neighbours meet."""
    numbers: dict[str, int] = {}
    lengths = np.empty(len(texts), dtype=np.int64)
    coded: list[int] = []
    for place, text in enumerate(texts):
        found = tokens(text)
        lengths[place] = len(found)
        coded += [numbers.setdefault(token, len(numbers)) for token in found]
    word = np.array(coded, dtype=np.int64)
    where = np.repeat(np.arange(len(texts)), lengths)
    dropped = np.zeros(len(numbers), dtype=np.bool_)
    dropped[[numbers[token] for token in drop if token in numbers]] = True
    kept = ~dropped[word]
    word, where = word[kept], where[kept]
    gram, parts = _distinct(word, np.arange(len(numbers))[:, None])
    for size in range(1, n):
        begins = np.flatnonzero(where[size:] == where[:-size]) if size < len(where) else np.empty(0, dtype=np.int64)
        shorter, next_word = _aligned(gram, begins), word[begins + size]
        pair = shorter * max(len(numbers), 1) + next_word
        distinct, longer = np.unique(pair, return_inverse=True)
        heads, tails = np.divmod(distinct, max(len(numbers), 1))
        parts = np.column_stack([parts[heads], tails]) if len(distinct) else np.empty((0, size + 1), dtype=np.int64)
        gram = np.full(len(word), -1, dtype=np.int64)
        gram[begins] = longer
    begun = gram >= 0
    return Occurrences(gram[begun], where[begun], parts, list(numbers))


def _distinct(
    word: npt.NDArray[np.int64], parts: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Numbers without gaps for the words that are left."""
    left, gram = np.unique(word, return_inverse=True)
    return gram.astype(np.int64), parts[left]


def _aligned(gram: npt.NDArray[np.int64], begins: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The shorter n-gram that begins where a longer one does: it exists wherever the longer one fits."""
    return gram[begins]
