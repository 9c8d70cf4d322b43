"""Predicate paths against a search by hand; walks stay on their path."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.graph.graph import Graph, Steps
from evaluator.curation.scenarios.paths import Paths, _different, walk
from tests.evaluator.curation.graph import graph_oracle
from tests.evaluator.curation.graph.small_graphs import graphs


def named(graph, path):
    return tuple((graph_oracle.REVERSED if code % 2 else "") + graph.predicates[code // 2] for code in path)


@given(graphs(), st.booleans())
@settings(deadline=None)
def test_every_pair_has_the_paths_that_a_search_finds(triples, without_p):
    graph = Graph(triples)
    banned = {"p"} if without_p else set()
    steps = Steps(graph, without=[graph.predicate_number[name] for name in banned])
    for begin in range(graph.size):
        for end in range(graph.size):
            if begin == end:
                continue
            found = list(Paths(steps, begin, end))
            assert len(found) == len(set(found))
            expected = graph_oracle.paths(triples, graph.entities[begin], graph.entities[end], banned)
            assert {named(graph, path) for path in found} == expected


@given(graphs())
@settings(deadline=None)
def test_looking_leaves_no_marks(triples):
    graph = Graph(triples)
    steps = Steps(graph)
    first = [list(Paths(steps, 0, end)) for end in range(1, graph.size)]
    assert [list(Paths(steps, 0, end)) for end in range(1, graph.size)] == first


@given(graphs(), st.integers(0, 50))
@settings(deadline=None)
def test_a_walk_ends_where_its_path_may_end(triples, seed):
    graph = Graph(triples)
    steps = Steps(graph)
    for end in range(1, graph.size):
        for path in Paths(steps, 0, end):
            reached = walk(steps, 0, path, random.Random(seed))
            possible = graph_oracle.ends(triples, graph.entities[0], named(graph, path))
            assert reached is None or graph.entities[reached] in possible


def test_walks_go_everywhere_alike():
    graph = Graph([("x", "q", name) for name in "abcd"])
    rng = random.Random(1)
    ends = [walk(Steps(graph), graph.number["x"], (0,), rng) for _ in range(400)]
    assert all(80 < ends.count(graph.number[name]) < 120 for name in "abcd")
    assert walk(Steps(graph), graph.number["x"], (0, 0), rng) is None


@given(st.lists(st.integers(0, 99)), st.sampled_from([100, 10**5, 10**9]))
@settings(deadline=None)
def test_each_number_once_whatever_the_range(numbers, end):
    assert _different(np.array(numbers, dtype=np.int64), end).tolist() == sorted(set(numbers))
