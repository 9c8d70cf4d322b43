"""Popularity of pairs and facts."""

import numpy as np
import pytest
from hypothesis import given, settings

from evaluator.curation.graph.graph import Graph
from evaluator.curation.scenarios.popularity import order_by, pair_popularity, popularity
from tests.evaluator.curation.graph import graph_oracle
from tests.evaluator.curation.graph.small_graphs import graphs


@pytest.mark.parametrize(
    ("degrees", "published"), [((942, 23298), 16056.82), ((1101, 1144), 1968.45), ((205, 328), 251.31)]
)
def test_the_papers_examples(degrees, published):
    assert round(pair_popularity(*degrees, 1452), 2) == published
    assert pair_popularity(*degrees[::-1], 1452) == pair_popularity(*degrees, 1452)


@given(graphs())
@settings(deadline=None)
def test_every_fact_against_counting_by_hand(triples):
    graph = Graph(triples)
    facts = graph.facts("p")
    expected = [graph_oracle.popularity(triples, "p", graph.entities[s], graph.entities[o]) for s, o in facts.tolist()]
    assert popularity(graph, facts).tolist() == pytest.approx(expected)


def test_facts_are_ordered_by_popularity_or_by_the_seed():
    scores = np.array([3.0, 9.0, 3.0, 1.0])
    assert order_by("popular", scores, 0).tolist() == [1, 0, 2, 3]
    assert order_by("non-popular", scores, 0).tolist() == [3, 0, 2, 1]
    orders = {tuple(order_by("random", scores, seed).tolist()) for seed in range(200)}
    assert len(orders) == 24
    assert order_by("random", scores, 7).tolist() == order_by("random", scores, 7).tolist()
