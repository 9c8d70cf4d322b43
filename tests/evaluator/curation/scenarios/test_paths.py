"""Predicate paths against a plain search; walks stay on their path."""

import random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.graph.graph import Graph, WalkSteps
from evaluator.curation.scenarios.paths import Paths, _distinct, walk
from tests.evaluator.curation.graph import graph_oracle
from tests.evaluator.curation.graph.small_graphs import graphs


def path_names(graph, path):
    return tuple((graph_oracle.REVERSED if code % 2 else "") + graph.predicates[code // 2] for code in path)


@given(graphs(), st.booleans())
@settings(deadline=None)
def test_paths_equal_those_of_a_plain_search(triples, without_p):
    graph = Graph(triples)
    banned = {"p"} if without_p else set()
    steps = WalkSteps(graph, without=[graph.predicate_number[name] for name in banned])
    for begin in range(graph.size):
        for end in range(graph.size):
            if begin == end:
                continue
            paths = list(Paths(steps, begin, end))
            assert len(paths) == len(set(paths))
            expected = graph_oracle.paths(triples, graph.entities[begin], graph.entities[end], banned)
            assert {path_names(graph, path) for path in paths} == expected


@given(graphs())
@settings(deadline=None)
def test_a_search_does_not_change_the_steps(triples):
    graph = Graph(triples)
    steps = WalkSteps(graph)
    first = [list(Paths(steps, 0, end)) for end in range(1, graph.size)]
    assert [list(Paths(steps, 0, end)) for end in range(1, graph.size)] == first


@given(graphs(), st.integers(0, 50))
@settings(deadline=None)
def test_a_walk_ends_where_its_path_may_end(triples, seed):
    graph = Graph(triples)
    steps = WalkSteps(graph)
    for end in range(1, graph.size):
        for path in Paths(steps, 0, end):
            reached = walk(steps, 0, path, random.Random(seed))
            possible = graph_oracle.ends(triples, graph.entities[0], path_names(graph, path))
            assert reached is None or graph.entities[reached] in possible


def test_walks_are_uniform():
    graph = Graph([("x", "q", name) for name in "abcd"])
    rng = random.Random(1)
    ends = [walk(WalkSteps(graph), graph.number["x"], (0,), rng) for _ in range(400)]
    assert all(80 < ends.count(graph.number[name]) < 120 for name in "abcd")
    assert walk(WalkSteps(graph), graph.number["x"], (0, 0), rng) is None


@given(st.lists(st.integers(0, 99)), st.sampled_from([100, 10**5, 10**9]))
@settings(deadline=None)
def test_distinct_numbers_for_any_range(numbers, end):
    assert _distinct(np.array(numbers, dtype=np.int64), end).tolist() == sorted(set(numbers))
