"""Embeddings of the graph by a truncated SVD, on graphs of any shape."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.graph.graph import Graph
from evaluator.curation.scenarios.embeddings import embed
from tests.evaluator.curation.graph.small_graphs import graphs
from tests.support.full_run import examples


@given(graphs(), st.integers(1, 9), st.integers(0, 3))
@settings(deadline=None, max_examples=examples(60))
def test_any_graph_has_deterministic_embeddings(triples, dimensions, seed):
    graph = Graph(triples)
    vectors = embed(graph, seed=seed, dimensions=dimensions)
    assert np.isfinite(vectors).all()
    assert len(vectors) == graph.size
    assert (vectors == embed(graph, seed=seed, dimensions=dimensions)).all()
    lengths = np.linalg.norm(vectors, axis=1).tolist()
    assert all(length == pytest.approx(1) or length == pytest.approx(0) for length in lengths)


@pytest.mark.parametrize(
    "triples",
    [
        [("a", "p", "a")],
        [("a", "p", "b")],
        [("a", "p", f"b{i}") for i in range(60)],
        [(f"a{i}", "p", f"b{i}") for i in range(60)],
        [("a", "p", f"b{i}") for i in range(900)],
        [(f"a{i}", "p", f"b{i}") for i in range(600)],
        [(f"a{i}", "p", f"b{j}") for i in range(12) for j in range(12)],
    ],
)
def test_stars_pairs_and_other_graphs_of_low_rank(triples):
    vectors = embed(Graph(triples), seed=0)
    assert np.isfinite(vectors).all()
    assert (vectors == embed(Graph(triples), seed=0)).all()


def test_entities_outside_the_dimensions_have_zero_vectors():
    """Two stars; two dimensions represent only the larger one."""
    triples = [("a", "p", f"b{i}") for i in range(9)] + [("x", "p", f"y{i}") for i in range(3)]
    graph = Graph(triples)
    lengths = np.linalg.norm(embed(graph, seed=0, dimensions=2), axis=1)
    assert [name[0] for name, length in zip(graph.entities, lengths, strict=True) if length > 0] == ["a"] + ["b"] * 9


@pytest.mark.parametrize("size", [30, 700])
def test_embeddings_equal_those_of_the_full_decomposition(size):
    rng = np.random.default_rng(3)
    triples = {(f"e{a}", "p", f"e{b}") for a, b in (rng.random((4 * size, 2)) ** 2 * size).astype(int).tolist()}
    graph = Graph(triples)
    adjacency = np.zeros((graph.size, graph.size))
    for s, _, o in triples:
        adjacency[graph.number[s], graph.number[o]] += 1
        adjacency[graph.number[o], graph.number[s]] += 1
    values, own = np.linalg.eigh(adjacency)
    most = np.argsort(-np.abs(values))[:5]
    expected = own[:, most] * np.sqrt(np.abs(values[most]))
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    embedded = embed(graph, seed=0, dimensions=5)
    assert embedded @ embedded.T == pytest.approx(expected @ expected.T, abs=1e-6)
