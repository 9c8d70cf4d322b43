"""Filtered ranks in batches agree with brute force."""

import numpy as np
import pytest

from evaluator.reference_systems.graphs import ranking
from evaluator.reference_systems.graphs.ranking import KnownAnswers, filtered_ranks

N_ENTITIES = 7


def brute_force(triples, known, scores_of) -> list[int]:
    known = {tuple(triple) for triple in known.tolist()}
    ranks = []
    for tail in (True, False):
        for s, r, o in triples.tolist():
            scores = scores_of(s if tail else o, r, tail)
            answer = o if tail else s
            others = [e for e in range(N_ENTITIES) if e != answer and ((s, r, e) if tail else (e, r, o)) not in known]
            higher = sum(scores[e] > scores[answer] for e in others)
            ranks.append(1 + higher + sum(scores[e] == scores[answer] for e in others) // 2)
    return ranks


@pytest.mark.parametrize("batch_scores", [1, 20, 10_000])
def test_ranks_agree_with_brute_force(monkeypatch, batch_scores) -> None:
    monkeypatch.setattr(ranking, "_BATCH_SCORES", batch_scores)
    rng = np.random.default_rng(5)
    graph = np.unique(rng.integers(0, [N_ENTITIES, 3, N_ENTITIES], (60, 3)), axis=0)
    triples = graph[::4]
    table = rng.integers(0, 5, (2, N_ENTITIES, 3, N_ENTITIES)).astype(float)

    def score_all(known, relations, tail):
        return table[tail.astype(int), known, relations]

    expected = brute_force(triples, graph, lambda entity, relation, tail: table[int(tail), entity, relation])
    assert filtered_ranks(triples, KnownAnswers(graph, N_ENTITIES), score_all).tolist() == expected
    assert len(set(expected)) > 2
