"""Finds, of many small sets, those that a set contains."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from evaluator.curation.open_triples.token_sets import Words


class Subsets:
    """Each set lies under its rarest word, so that a set of n words is compared with the few sets of n places."""

    def __init__(self, sets: Iterable[Words]) -> None:
        """sets: none of them empty; each is found once, however often it is given."""
        distinct = list(dict.fromkeys(sets))
        frequency = Counter(word for words in distinct for word in words)
        self._under: dict[str, list[Words]] = {}
        for words in distinct:
            rarest = min(words, key=lambda word: (frequency[word], word))
            self._under.setdefault(rarest, []).append(words)

    def within(self, words: Words) -> Iterator[Words]:
        """The sets that `words` contains."""
        for word in words & self._under.keys():
            for candidate in self._under[word]:
                if candidate <= words:
                    yield candidate
