"""Filtered ranks of the answers to the questions that triples ask (Bordes et al. 2013)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.reference_systems.graphs.graph import Ints

Scores = npt.NDArray[np.floating[Any]]
ScoreAll = Callable[[Ints, Ints, npt.NDArray[np.bool_]], Scores]
"""Returns the scores of all entities for (known entities, relations, True where the object is asked for)."""
_BATCH_SCORES = 4_000_000


class KnownAnswers:
    """All answers that a list of triples gives to the questions (subject, relation, ?) and (?, relation, object)."""

    def __init__(self, triples: Ints, n_entities: int) -> None:
        self.n_entities = n_entities
        self._keys: list[Ints] = []
        self._answers: list[Ints] = []
        for known, answer in ((0, 2), (2, 0)):
            keys = triples[:, 1] * n_entities + triples[:, known]
            order = np.lexsort((triples[:, answer], keys))
            self._keys.append(keys[order])
            self._answers.append(triples[order, answer])

    def of(self, known: int, relation: int, *, tail: bool) -> Ints:
        """Return the sorted answers to one question, as numbers of entities.

        known, relation: the numbers of the given entity and of the relation. tail: True if the object is asked for,
        False for the subject.
        """
        keys, key = self._keys[not tail], relation * self.n_entities + known
        first, end = np.searchsorted(keys, [key, key + 1])
        return self._answers[not tail][first:end]


def filtered_ranks(triples: Ints, known: KnownAnswers, score_all: ScoreAll) -> Ints:
    """Return the ranks of the objects of all triples, then those of the subjects.

    Each is an answer to the question that the rest of its triple asks. The question's other answers in `known` are
    removed before ranking. An answer ranks below all entities with a higher score, and in the middle of those with the
    same score, rounded down. score_all: returns the scores of all entities as answers to questions.
    """
    ranks = []
    for tail in (True, False):
        column = 0 if tail else 2
        for batch in np.array_split(triples, max(1, -(-len(triples) * known.n_entities // _BATCH_SCORES))):
            given, relations, answers = batch[:, column], batch[:, 1], batch[:, 2 - column]
            scores = score_all(given, relations, np.full(len(batch), tail))
            right = scores[np.arange(len(batch)), answers]
            for row, (entity, relation) in enumerate(zip(given.tolist(), relations.tolist(), strict=True)):
                scores[row, known.of(entity, relation, tail=tail)] = -np.inf
            higher, equal = (scores > right[:, None]).sum(axis=1), (scores == right[:, None]).sum(axis=1)
            ranks.append(1 + higher + equal // 2)
    return np.concatenate(ranks)
