"""Counting systems on a small graph with known answers."""

import numpy as np
import pytest

from evaluator.reference_systems.graphs.frequencies import EntityCounts, Popularity, RelationCounts
from evaluator.reference_systems.graphs.graph import Graph
from evaluator.tasks.fact_checking.layout import Claim
from evaluator.tasks.link_prediction.layout import Question

GRAPH = Graph.of(
    [
        ("ann", "born in", "ulm"),
        ("bob", "born in", "ulm"),
        ("bob", "born in", "rom"),
        ("ann", "died in", "rom"),
        ("ann", "knows", "bob"),
        ("ann", "knows", "bob"),
    ]
)
LIKE_ANN = Claim(1, "ann", "born in", "rom")


def answers(scorer, *question) -> dict[str, float]:
    row = scorer.score_answers([Question(1, question)])[0]
    return {name: score for name, score in zip(scorer.entities, row, strict=True) if score > -np.inf}


def test_popularity_counts_triples() -> None:
    assert answers(Popularity(GRAPH), "ann", "born in", "?") == {"ann": 4, "bob": 4, "rom": 2, "ulm": 2}
    assert Popularity(GRAPH).score_claims([LIKE_ANN, Claim(2, "ann", "knows", "new")]).tolist() == [2, 0]


def test_relation_counts() -> None:
    scorer = RelationCounts(GRAPH)
    assert answers(scorer, "ann", "born in", "?") == {"ulm": 2, "rom": 1}
    assert answers(scorer, "?", "born in", "new") == {"ann": 1, "bob": 2}
    assert answers(scorer, "ann", "new", "?") == {}
    # ann is the subject of "born in" once, rom its object once.
    assert scorer.score_claims([LIKE_ANN, Claim(2, "new", "born in", "ulm")]).tolist() == [2, 2]


def test_entity_counts() -> None:
    scorer = EntityCounts(GRAPH)
    assert answers(scorer, "ann", "born in", "?") == {"bob": 2, "rom": 1, "ulm": 1} == answers(scorer, "?", "r", "ann")
    assert scorer.score_claims([LIKE_ANN, Claim(2, "bob", "r", "ann"), Claim(3, "x", "r", "y")]).tolist() == [1, 2, 0]


def test_relations_share_the_counts_of_their_tokens() -> None:
    """`born in` has the tokens `born` (ulm 2, rom 1) and `in` (ulm 2, rom 2)."""
    scorer = RelationCounts(GRAPH, tokens=True)
    assert answers(scorer, "ann", "Born in", "?") == {"ulm": 2, "rom": 1.5}
    assert answers(scorer, "ann", "raised in", "?") == {"ulm": 2, "rom": 2}


@pytest.mark.parametrize("scorer", [RelationCounts, EntityCounts])
def test_sharing_tokens_changes_nothing_where_no_name_shares_one(scorer) -> None:
    letters = [tuple(name.replace(" ", "") for name in triple) for triple in [("a", "r", "b"), ("b", "q", "c")]]
    graph = Graph.of(letters)
    questions = [Question(1, ("a", "r", "?")), Question(2, ("?", "q", "c"))]
    plain, shared = scorer(graph), scorer(graph, tokens=True)
    assert plain.score_answers(questions).tolist() == shared.score_answers(questions).tolist()
