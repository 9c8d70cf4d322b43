"""The graph in arrays against its triples."""

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.graph.graph import Graph, WalkSteps
from tests.evaluator.curation.graph import graph_oracle
from tests.evaluator.curation.graph.small_graphs import graphs


@given(graphs(), st.randoms(use_true_random=False))
@settings(deadline=None)
def test_order_and_repetition_do_not_matter(triples, rng):
    mixed = [*triples, *triples[:3]]
    rng.shuffle(mixed)
    graph, other_graph = Graph(triples), Graph(mixed)
    assert graph.entities == other_graph.entities
    for name in ("subjects", "predicates_of", "objects", "degrees"):
        assert getattr(graph, name).tolist() == getattr(other_graph, name).tolist()


@given(graphs())
@settings(deadline=None)
def test_degrees_facts_and_links(triples):
    graph = Graph(triples)
    name = graph.entities
    assert graph.degrees.tolist() == [graph_oracle.degree(triples, entity) for entity in name]
    for predicate in ("p", "q", "none"):
        facts = [(name[s], name[o]) for s, o in graph.facts(predicate).tolist()]
        assert facts == sorted((s, o) for s, p, o in triples if p == predicate)
    assert graph.linked == {graph.number[s] * graph.size + graph.number[o] for s, _, o in triples}


@given(graphs(), st.sampled_from([(), ("p",), ("p", "q")]))
@settings(deadline=None)
def test_steps_are_the_neighbours(triples, banned):
    graph = Graph(triples)
    steps = WalkSteps(
        graph, without=[graph.predicate_number[name] for name in banned if name in graph.predicate_number]
    )
    expected = graph_oracle.neighbours(triples, banned)
    for entity, name in enumerate(graph.entities):
        codes, to = steps.of(entity)
        neighbours = [
            ((graph_oracle.REVERSED if code % 2 else "") + graph.predicates[code // 2], graph.entities[end])
            for code, end in zip(codes.tolist(), to.tolist(), strict=True)
        ]
        assert len(neighbours) == len(set(neighbours))
        assert set(neighbours) == expected[name]
        assert steps.reach[entity] == sum(len(expected[end]) for _, end in neighbours)


def test_entities_are_sorted():
    names = [f"Q{number}" for number in range(50)]
    rng = random.Random(1)
    triples = [(rng.choice(names), "p", rng.choice(names)) for _ in range(200)]
    assert Graph(triples).entities == sorted({end for s, _, o in triples for end in (s, o)})
