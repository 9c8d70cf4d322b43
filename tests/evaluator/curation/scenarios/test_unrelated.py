"""Unrelated false pairs have no link in either direction."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.graph.graph import Graph
from evaluator.curation.scenarios.easy_negatives import unrelated
from tests.evaluator.curation.graph.small_graphs import graphs


def allowed(triples, facts, used=()):
    linked = {(s, o) for s, _, o in triples} | {(o, s) for s, _, o in triples}
    all_pairs = {(s, o) for s, _ in facts for _, o in facts if s != o}
    return all_pairs - linked - set(used)


@given(graphs(), st.integers(0, 70), st.integers(0, 5))
@settings(deadline=None)
def test_the_number_of_pairs_is_limited_by_those_available(triples, n, seed):
    graph = Graph(triples)
    name = graph.entities
    facts = [tuple(fact) for fact in graph.facts("p").tolist()]
    free = allowed(triples, [(name[s], name[o]) for s, o in facts])
    pairs = unrelated(graph, [facts], n, random.Random(seed))
    assert len(pairs) == len(set(pairs)) == min(n, len(free))
    assert {(name[s], name[o]) for s, o in pairs} <= free
    assert pairs == unrelated(graph, [facts], n, random.Random(seed))
    used = set(pairs[::2])
    assert not used & set(unrelated(graph, [facts], n, random.Random(seed), used))


@given(graphs(), st.integers(1, 70))
@settings(deadline=None)
def test_other_facts_are_used_only_if_the_first_do_not_suffice(triples, n):
    graph = Graph(triples)
    facts = [tuple(fact) for fact in graph.facts("p").tolist()]
    first = unrelated(graph, [facts[:2]], n, random.Random(0))
    both = unrelated(graph, [facts[:2], facts[2:]], n, random.Random(0))
    assert both[: len(first)] == first
    assert len(both) == min(n, len(allowed(triples, [(graph.entities[s], graph.entities[o]) for s, o in facts])))
