"""Plausible false pairs against all pairs that the rules allow."""

from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.graph.graph import Graph, Triple
from evaluator.curation.scenarios.hard_negatives import ClosedWorld, Walks, collect
from evaluator.curation.scenarios.types import Types
from tests.evaluator.curation.graph import graph_oracle, small_graphs

graph_and_types = st.tuples(small_graphs.graphs(), small_graphs.types)


def pairs_of(kind, triples, types, seed=0):
    """(fact, pairs found from the fact), all by name."""
    graph = Graph(triples)
    source = kind(graph, "p", Types(graph.entities, types), seed)
    for subject, object_ in graph.facts("p").tolist():
        number_pairs = [plausible.pair for plausible in source.plausible((subject, object_))]
        yield (
            (graph.entities[subject], graph.entities[object_]),
            [(graph.entities[s], graph.entities[o]) for s, o in number_pairs],
        )


@given(graph_and_types, st.integers(0, 9))
@settings(deadline=None)
def test_walks_end_only_at_allowed_pairs(graph_types, seed):
    for fact, pairs in pairs_of(Walks, *graph_types, seed):
        assert set(pairs) <= graph_oracle.walkable(*graph_types, "p", fact)


def test_walks_find_every_allowed_pair_over_many_seeds():
    types = {"France": {"land"}, "Spain": {"land"}, "Italy": {"land"}, "Paris": {"city"}, "Ann": {"person"}}
    triples = [
        Triple("Ann", "citizen", "France"), Triple("Ann", "lives", "Spain"), Triple("Bob", "lives", "Spain"),
        Triple("Bob", "works", "Italy"), Triple("Ann", "works", "Italy"), Triple("Ann", "lives", "Paris"),
        Triple("Eve", "lives", "Italy"), Triple("Eve", "works", "France"), Triple("Eve", "born", "Paris"),
    ]  # fmt: skip
    triples = [triple._replace(predicate="p") if triple.predicate == "citizen" else triple for triple in triples]
    expected = graph_oracle.walkable(triples, types, "p", ("Ann", "France"))
    all_pairs = {pair for seed in range(200) for _, pairs in pairs_of(Walks, triples, types, seed) for pair in pairs}
    assert all_pairs == expected
    assert ("Ann", "Spain") in expected
    assert ("Ann", "Paris") not in expected


@given(graph_and_types)
@settings(deadline=None)
def test_the_closed_world_equals_the_rule_in_plain_loops(graph_types):
    for fact, pairs in pairs_of(ClosedWorld, *graph_types):
        assert set(pairs) == graph_oracle.closed_world(*graph_types, "p", fact)
        assert len(pairs) <= 2 * len(set(pairs))


@given(graph_and_types, st.integers(0, 12))
@settings(deadline=None)
def test_collecting_returns_distinct_pairs_in_turn(graph_types, n):
    triples, types = graph_types
    graph = Graph(triples)
    source = Walks(graph, "p", Types(graph.entities, types), 0)
    facts = [tuple(fact) for fact in graph.facts("p").tolist()]
    collected = [plausible.pair for plausible, _ in collect(source, [facts], n)]
    everything = [plausible.pair for plausible, _ in collect(source, [facts[:1], facts[1:]], 10**6)]
    assert len(collected) == len(set(collected)) == min(n, len(everything))
    assert collected == [plausible.pair for plausible, _ in collect(source, [facts], 10**6)][:n]
    used = set(everything[:3])
    assert not used & {plausible.pair for plausible, _ in collect(source, [facts], 10**6, used)}


def test_facts_take_turns():
    class Endless:
        def plausible(self, fact):
            from evaluator.curation.scenarios.hard_negatives import Plausible

            return (Plausible((fact[0], other), (0,), True) for other in range(100, 200))

    collected = collect(Endless(), [[(1, 1), (2, 2)], [(3, 3)]], 6)
    assert [fact for _, fact in collected] == [(1, 1), (2, 2)] * 3


def test_no_path_uses_the_predicate_or_domain_and_range():
    names = ["http://www.w3.org/2000/01/rdf-schema#domain", "rdfs:range", "p"]
    triples = [Triple("a", "p", "b"), *(Triple("a", name, "c") for name in names[:2]), Triple("x", "p", "c")]
    graph = Graph(triples)
    assert not list(Walks(graph, "p", Types(graph.entities, {}), 0).plausible((0, 1)))
    graph = Graph([*triples, Triple("a", "q", "c")])
    (plausible,) = Walks(graph, "p", Types(graph.entities, {}), 0).plausible((0, 1))
    assert [graph.predicates[code // 2] for code in plausible.path] == ["q"]
