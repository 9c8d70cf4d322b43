"""N-grams of many texts as NumPy arrays, for cue word statistics, the claim weights of reweighting and naive Bayes."""

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
    """Return the `count` most frequent words of the texts, lower-cased, most frequent first; ties alphabetically."""
    counts = Counter(token for text in texts for token in tokens(text))
    return sorted(counts, key=lambda token: (-counts[token], token))[:count]


@dataclass(frozen=True)
class Occurrences:
    """All occurrences of n-grams in a list of texts.

    gram, text: for each occurrence, in reading order, the n-gram's number and the index of the text.
    parts: row g holds the n words of n-gram number g, as indices into `words`.
    """

    gram: npt.NDArray[np.int64]
    text: npt.NDArray[np.int64]
    parts: npt.NDArray[np.int64]
    words: list[str]

    @property
    def n_types(self) -> int:
        """The number of distinct n-grams (types, as opposed to tokens)."""
        return len(self.parts)

    def name(self, gram: int) -> str:
        return " ".join(self.words[part] for part in self.parts[gram])


def occurrences(texts: Sequence[str], *, n: int, drop: Collection[str] = ()) -> Occurrences:
    """Return all n-grams of the texts. n: the number of words of an n-gram.

    drop: lower-case words that are removed first, so that their neighbours become adjacent.
    """
    numbers: dict[str, int] = {}
    lengths = np.empty(len(texts), dtype=np.int64)
    coded: list[int] = []
    for index, text in enumerate(texts):
        words = tokens(text)
        lengths[index] = len(words)
        coded += [numbers.setdefault(token, len(numbers)) for token in words]
    word = np.array(coded, dtype=np.int64)
    text_index = np.repeat(np.arange(len(texts)), lengths)
    dropped = np.zeros(len(numbers), dtype=np.bool_)
    dropped[[numbers[token] for token in drop if token in numbers]] = True
    remaining = ~dropped[word]
    word, text_index = word[remaining], text_index[remaining]
    gram, parts = _distinct(word, np.arange(len(numbers))[:, None])
    for size in range(1, n):
        begins = (
            np.flatnonzero(text_index[size:] == text_index[:-size])
            if size < len(text_index)
            else np.empty(0, dtype=np.int64)
        )
        shorter, next_word = _aligned(gram, begins), word[begins + size]
        pair = shorter * max(len(numbers), 1) + next_word
        distinct, longer = np.unique(pair, return_inverse=True)
        heads, tails = np.divmod(distinct, max(len(numbers), 1))
        parts = np.column_stack([parts[heads], tails]) if len(distinct) else np.empty((0, size + 1), dtype=np.int64)
        gram = np.full(len(word), -1, dtype=np.int64)
        gram[begins] = longer
    is_start = gram >= 0
    return Occurrences(gram[is_start], text_index[is_start], parts, list(numbers))


def _distinct(
    word: npt.NDArray[np.int64], parts: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return (the numbers in `word`, renumbered from 0 without gaps; the row of `parts` for each new number).

    parts: the words of each n-gram, one row per old number.
    """
    left, gram = np.unique(word, return_inverse=True)
    return gram.astype(np.int64), parts[left]


def _aligned(gram: npt.NDArray[np.int64], begins: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the numbers of the n-grams that begin at the positions `begins` of the texts.

    gram: for each position, the number of the n-gram that begins there.
    """
    return gram[begins]
