"""Graphs for tests: a few entities, three predicates, dense enough for walks, at least one fact of `p`."""

from hypothesis import strategies as st

from evaluator.curation.graph.graph import Triple

ENTITIES = [f"e{number}" for number in range(8)]
entity = st.sampled_from(ENTITIES)
types = st.dictionaries(entity, st.sets(st.sampled_from("ABCDEF")), max_size=8)


@st.composite
def graphs(draw, most=25):
    triple = st.builds(Triple, entity, st.sampled_from(["p", "q", "r"]), entity)
    fact = Triple(draw(entity), "p", draw(entity))
    return sorted({fact, *draw(st.lists(triple, min_size=4, max_size=most))})
