"""Texts of open triples as sets of words: lower-cased tokens without the most frequent ones (Broscheit et al. 2020)."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

STOPPED = 25
"""The most frequent tokens of mentions, and as many of relations, do not count."""

Words = frozenset[str]


class StopWords(NamedTuple):
    """The most frequent first."""

    mentions: tuple[str, ...]
    relations: tuple[str, ...]

    @property
    def all(self) -> frozenset[str]:
        return frozenset(self.mentions + self.relations)


class TokenCounts:
    """How often each lower-cased token stands in mentions (subjects and objects), and in relations."""

    def __init__(self) -> None:
        self._mentions: Counter[str] = Counter()
        self._relations: Counter[str] = Counter()

    def add(self, rows: Iterable[Sequence[str]]) -> None:
        """rows: subject, relation, object, and whatever follows."""
        rows = rows if isinstance(rows, list) else list(rows)
        # One string of many texts: lower-casing and splitting it takes a quarter of the time.
        self._mentions.update(" ".join([f"{row[0]} {row[2]}" for row in rows]).lower().split())
        self._relations.update(" ".join([row[1] for row in rows]).lower().split())

    def stop_words(self, n: int = STOPPED) -> StopWords:
        """The n most frequent of either kind, equally frequent ones in the order of their code points."""
        return StopWords(_frequent(self._mentions, n), _frequent(self._relations, n))


def _frequent(counts: Counter[str], n: int) -> tuple[str, ...]:
    return tuple(token for token, _ in heapq.nsmallest(n, counts.items(), key=lambda item: (-item[1], item[0])))


class Normaliser:
    """Turns a text into its set of words: without stop words, unless it has no other."""

    def __init__(self, stops: Collection[str]) -> None:
        self._stops = frozenset(stops)

    def __call__(self, text: str) -> Words:
        tokens = frozenset(text.lower().split())
        return tokens - self._stops or tokens
