"""Graphs for tests: a few entities, three predicates, dense enough for walks; one fact of `p` at least."""

from hypothesis import strategies as st

from evaluator.curation.graph.graph import Triple

ENTITIES = [f"e{number}" for number in range(8)]
entity = st.sampled_from(ENTITIES)
types = st.dictionaries(entity, st.sets(st.sampled_from("ABCDEF")), max_size=8)


@st.composite
def graphs(draw, most=25):
    triple = st.builds(Triple, entity, st.sampled_from(["p", "q", "r"]), entity)
    one = Triple(draw(entity), "p", draw(entity))
    return sorted({one, *draw(st.lists(triple, min_size=4, max_size=most))})
