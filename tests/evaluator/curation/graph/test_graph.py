"""The graph in arrays against the triples it was made of."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.graph.graph import Graph, Steps
from tests.evaluator.curation.graph import graph_oracle
from tests.evaluator.curation.graph.small_graphs import graphs


@given(graphs(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_neither_order_nor_repetition_matters(triples, rng):
    mixed = [*triples, *triples[:3]]
    rng.shuffle(mixed)
    one, other = Graph(triples), Graph(mixed)
    assert one.entities == other.entities
    for name in ("subjects", "predicates_of", "objects", "degrees"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist()


@given(graphs())
@settings(deadline=None)
def test_degrees_facts_and_links(triples):
    graph = Graph(triples)
    name = graph.entities
    assert graph.degrees.tolist() == [graph_oracle.degree(triples, entity) for entity in name]
    for predicate in ("p", "q", "none"):
        found = [(name[s], name[o]) for s, o in graph.facts(predicate).tolist()]
        assert found == sorted((s, o) for s, p, o in triples if p == predicate)
    assert graph.linked == {graph.number[s] * graph.size + graph.number[o] for s, _, o in triples}


@given(graphs(), st.sampled_from([(), ("p",), ("p", "q")]))
@settings(deadline=None)
def test_steps_are_the_neighbours(triples, banned):
    graph = Graph(triples)
    steps = Steps(graph, without=[graph.predicate_number[name] for name in banned if name in graph.predicate_number])
    beside = graph_oracle.neighbours(triples, banned)
    for entity, name in enumerate(graph.entities):
        codes, to = steps.of(entity)
        found = [
            ((graph_oracle.REVERSED if code % 2 else "") + graph.predicates[code // 2], graph.entities[end])
            for code, end in zip(codes.tolist(), to.tolist(), strict=True)
        ]
        assert len(found) == len(set(found))
        assert set(found) == beside[name]
        assert steps.reach[entity] == sum(len(beside[end]) for _, end in found)


def test_a_walk_of_names_that_sort_as_they_come():
    names = [f"Q{number}" for number in range(50)]
    rng = random.Random(1)
    triples = [(rng.choice(names), "p", rng.choice(names)) for _ in range(200)]
    assert Graph(triples).entities == sorted({end for s, _, o in triples for end in (s, o)})
