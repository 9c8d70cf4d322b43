"""Plausible false pairs against everything that the rules allow, written out."""

from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.graph.graph import Graph, Triple
from evaluator.curation.scenarios.hard_negatives import ClosedWorld, Walks, collect
from evaluator.curation.scenarios.types import Types
from tests.evaluator.curation.graph import graph_oracle, small_graphs

graph_and_types = st.tuples(small_graphs.graphs(), small_graphs.types)


def pairs_of(kind, triples, types, seed=0):
    """(fact, the pairs found from it), all by name."""
    graph = Graph(triples)
    source = kind(graph, "p", Types(graph.entities, types), seed)
    for subject, object_ in graph.facts("p").tolist():
        found = [one.pair for one in source.plausible((subject, object_))]
        yield (
            (graph.entities[subject], graph.entities[object_]),
            [(graph.entities[s], graph.entities[o]) for s, o in found],
        )


@given(graph_and_types, st.integers(0, 9))
@settings(deadline=None)
def test_walks_end_only_where_the_algorithm_may(given_, seed):
    for fact, found in pairs_of(Walks, *given_, seed):
        assert set(found) <= graph_oracle.walkable(*given_, "p", fact)


def test_walks_find_all_that_the_algorithm_may_in_the_end():
    types = {"France": {"land"}, "Spain": {"land"}, "Italy": {"land"}, "Paris": {"city"}, "Ann": {"person"}}
    triples = [
        Triple("Ann", "citizen", "France"), Triple("Ann", "lives", "Spain"), Triple("Bob", "lives", "Spain"),
        Triple("Bob", "works", "Italy"), Triple("Ann", "works", "Italy"), Triple("Ann", "lives", "Paris"),
        Triple("Eve", "lives", "Italy"), Triple("Eve", "works", "France"), Triple("Eve", "born", "Paris"),
    ]  # fmt: skip
    triples = [triple._replace(predicate="p") if triple.predicate == "citizen" else triple for triple in triples]
    expected = graph_oracle.walkable(triples, types, "p", ("Ann", "France"))
    found = {pair for seed in range(200) for _, pairs in pairs_of(Walks, triples, types, seed) for pair in pairs}
    assert found == expected
    assert ("Ann", "Spain") in expected
    assert ("Ann", "Paris") not in expected


@given(graph_and_types)
@settings(deadline=None)
def test_the_closed_world_is_the_rule_written_out(given_):
    for fact, found in pairs_of(ClosedWorld, *given_):
        assert set(found) == graph_oracle.closed_world(*given_, "p", fact)
        assert len(found) <= 2 * len(set(found))


@given(graph_and_types, st.integers(0, 12))
@settings(deadline=None)
def test_collecting_takes_different_pairs_by_turns(given_, n):
    triples, types = given_
    graph = Graph(triples)
    source = Walks(graph, "p", Types(graph.entities, types), 0)
    facts = [tuple(fact) for fact in graph.facts("p").tolist()]
    found = [one.pair for one, _ in collect(source, [facts], n)]
    everything = [one.pair for one, _ in collect(source, [facts[:1], facts[1:]], 10**6)]
    assert len(found) == len(set(found)) == min(n, len(everything))
    assert found == [one.pair for one, _ in collect(source, [facts], 10**6)][:n]
    used = set(everything[:3])
    assert not used & {one.pair for one, _ in collect(source, [facts], 10**6, used)}


def test_facts_take_turns():
    class Endless:
        def plausible(self, fact):
            from evaluator.curation.scenarios.hard_negatives import Plausible

            return (Plausible((fact[0], other), (0,), True) for other in range(100, 200))

    found = collect(Endless(), [[(1, 1), (2, 2)], [(3, 3)]], 6)
    assert [fact for _, fact in found] == [(1, 1), (2, 2)] * 3


def test_no_path_goes_along_the_predicate_nor_along_domain_and_range():
    names = ["http://www.w3.org/2000/01/rdf-schema#domain", "rdfs:range", "p"]
    triples = [Triple("a", "p", "b"), *(Triple("a", name, "c") for name in names[:2]), Triple("x", "p", "c")]
    graph = Graph(triples)
    assert not list(Walks(graph, "p", Types(graph.entities, {}), 0).plausible((0, 1)))
    graph = Graph([*triples, Triple("a", "q", "c")])
    (one,) = Walks(graph, "p", Types(graph.entities, {}), 0).plausible((0, 1))
    assert [graph.predicates[code // 2] for code in one.path] == ["q"]
