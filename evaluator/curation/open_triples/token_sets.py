"""Texts of open triples as sets of lower-cased tokens without stop words (Broscheit et al. 2020)."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Collection, Sequence
from typing import NamedTuple

STOPPED = 25
"""Number of stop words: the most frequent tokens of mentions, and as many of relations."""

MOST_TEXTS = 1 << 22

Words = frozenset[str]


class StopWords(NamedTuple):
    """Stop words: a list for mentions and a list for relations, each with the most frequent first."""

    mentions: tuple[str, ...]
    relations: tuple[str, ...]

    @property
    def all(self) -> frozenset[str]:
        return frozenset(self.mentions + self.relations)


class TokenCounts:
    """Frequencies of lower-cased tokens in mentions (subjects and objects) and in relations."""

    def __init__(self, most: int = MOST_TEXTS) -> None:
        """Start without texts. most: the number of different texts to buffer before their tokens are counted."""
        self._most = most
        # Texts repeat often: counting them first takes a third of the time of counting all tokens.
        self._texts: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        self._tokens: tuple[Counter[str], Counter[str]] = (Counter(), Counter())

    def add(self, rows: Sequence[Sequence[str]]) -> None:
        """Count the tokens of rows: subject, relation, object; further columns are ignored."""
        mentions, relations = self._texts
        for texts, column in ((mentions, 0), (relations, 1), (mentions, 2)):
            texts.update([row[column] for row in rows])
        if len(mentions) + len(relations) > self._most:
            self._flush()

    def stop_words(self, n: int = STOPPED) -> StopWords:
        """Return the n most frequent tokens of mentions and the n most frequent of relations; ties by code points."""
        self._flush()
        mentions, relations = self._tokens
        return StopWords(_frequent(mentions, n), _frequent(relations, n))

    def _flush(self) -> None:
        for texts, tokens in zip(self._texts, self._tokens, strict=True):
            for text, count in texts.items():
                for token in text.lower().split():
                    tokens[token] += count
            texts.clear()


def _frequent(counts: Counter[str], n: int) -> tuple[str, ...]:
    return tuple(token for token, _ in heapq.nsmallest(n, counts.items(), key=lambda item: (-item[1], item[0])))


class Normaliser:
    """Function from a text to its set of lower-cased words, without stop words.

    If a text has only stop words, they are kept. stops: the stop words.
    """

    def __init__(self, stops: Collection[str]) -> None:
        self._stops = frozenset(stops)

    def __call__(self, text: str) -> Words:
        tokens = frozenset(text.lower().split())
        return tokens - self._stops or tokens
