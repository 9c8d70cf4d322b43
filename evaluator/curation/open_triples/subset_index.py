"""Index of many small sets, to find the subsets of a given set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from evaluator.curation.open_triples.token_sets import Words


class Subsets:
    """Index of sets by their rarest word: a given set is compared only with the sets whose rarest word it contains."""

    def __init__(self, sets: Iterable[Words]) -> None:
        """Index the sets. No set may be empty; equal sets count once."""
        distinct = list(dict.fromkeys(sets))
        frequency = Counter(word for words in distinct for word in words)
        self._under: dict[str, list[Words]] = {}
        for words in distinct:
            rarest = min(words, key=lambda word: (frequency[word], word))
            self._under.setdefault(rarest, []).append(words)

    def within(self, words: Words) -> Iterator[Words]:
        """Yield the sets that are subsets of `words`."""
        for word in words & self._under.keys():
            for candidate in self._under[word]:
                if candidate <= words:
                    yield candidate
