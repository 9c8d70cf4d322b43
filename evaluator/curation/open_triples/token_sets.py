"""Texts of open triples as sets of words: lower-cased tokens without the most frequent ones (Broscheit et al. 2020)."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

STOPPED = 25
"""The most frequent tokens of mentions, and as many of relations, do not count."""

MOST_TEXTS = 1 << 22

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

    def __init__(self, most: int = MOST_TEXTS) -> None:
        """most: texts that are held before their tokens are counted."""
        self._most = most
        # Texts come again and again: counting them first takes a third of the time that counting all tokens does.
        self._texts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        self._tokens: tuple[Counter[str], Counter[str]] = (Counter(), Counter())

    def add(self, rows: Sequence[Sequence[str]]) -> None:
        """rows: subject, relation, object, and whatever follows."""
        mentions, relations = self._texts
        for texts, place in ((mentions, 0), (relations, 1), (mentions, 2)):
            texts.update([row[place] for row in rows])
        if len(mentions) + len(relations) > self._most:
            self._settle()

    def stop_words(self, n: int = STOPPED) -> StopWords:
        """The n most frequent of either kind, equally frequent ones in the order of their code points."""
        self._settle()
        mentions, relations = self._tokens
        return StopWords(_frequent(mentions, n), _frequent(relations, n))

    def _settle(self) -> None:
        for texts, tokens in zip(self._texts, self._tokens, strict=True):
            for text, count in texts.items():
                for token in text.lower().split():
                    tokens[token] += count
            texts.clear()


def _frequent(counts: Counter[str], n: int) -> tuple[str, ...]:
    return tuple(token for token, _ in heapq.nsmallest(n, counts.items(), key=lambda item: (-item[1], item[0])))


class Normaliser:
    """Turns a text into its set of words: without stop words, unless it has no other."""

    def __init__(self, stops: Collection[str]) -> None:
        self._stops = frozenset(stops)

    def __call__(self, text: str) -> Words:
        tokens = frozenset(text.lower().split())
        return tokens - self._stops or tokens
