"""Decided label or mean score of an item, and union of the mentions that annotators marked in a text.

The rules are those of KnowledgeNet (Mesquita et al. 2019). Two annotators judge each item, and a third one judges it if
they differ. So a label is decided once two annotators chose it and no other label was chosen as often. Scores, such as
human ratings, are averaged.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

from evaluator.jsonl.ids import Id

ENOUGH = 2
"""The number of annotators who must agree on a label, or give a score."""

Span = tuple[int, int]
"""Start and end of a mention in its text, half-open."""


def decide(values: Sequence[Any], *, scores: bool) -> Any:
    """Return the decided label, or the mean of scores; None if another annotator has to judge the item.

    values: one label or score per annotator, in any order. scores: True for scores, False for labels. A label is
    decided once two annotators chose it and no other label was chosen as often.
    """
    if scores:
        return math.fsum(values) / len(values) if len(values) >= ENOUGH else None
    # Tuples with the type, since 1 == True.
    counts = Counter((type(value), value) for value in values).most_common(2)
    if not counts or counts[0][1] < ENOUGH or (len(counts) > 1 and counts[1][1] == counts[0][1]):
        return None
    return counts[0][0][1]


class Mentions:
    """Spans of texts that annotators marked as mentions, kept by the id of the text and by annotator."""

    def __init__(self) -> None:
        self.of_text: dict[Id, dict[Id, frozenset[Span]]] = defaultdict(dict)

    def add(self, text: Id, annotator: Id, spans: Iterable[Span]) -> None:
        self.of_text[text][annotator] = frozenset(spans)

    def union(self, text: Id) -> list[Span]:
        """Return the mentions that at least one annotator marked in the text with this id, sorted by position."""
        return sorted(frozenset[Span]().union(*self.of_text[text].values()))

    def agreement(self) -> float:
        """Return the annotators' agreement: the F1 of exactly equal mentions, over all pairs of annotators of a text.

        Counts are added up over all pairs and texts (micro-average). NaN if no annotator in any pair marked a mention.
        F1 is the usual agreement on spans, because spans that nobody marked cannot be counted (Hripcsak & Rothschild
        2005).
        """
        common = total = 0
        for marked in self.of_text.values():
            for one, other in combinations(marked.values(), 2):
                common += 2 * len(one & other)
                total += len(one) + len(other)
        return common / total if total else math.nan
