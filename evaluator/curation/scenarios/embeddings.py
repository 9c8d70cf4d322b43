"""A place for each entity in a space of few dimensions, where nobody brings trained ones: entities with alike
neighbours lie close."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluator.curation.graph.graph import Graph
from evaluator.errors import UsageError
from evaluator.outcomes.table import Numbers

DIMENSIONS = 50
_SMALL = 500  # entities, for which all of the decomposition costs no more
_NOTHING = 1e-9
_TINY = 1e-300


def embed(graph: Graph, *, seed: int, dimensions: int = DIMENSIONS) -> Numbers:
    """Singular vectors of the graph's adjacency, each times the root of its singular value, rows of length 1.

    The adjacency is symmetric: an entry counts the triples between two entities, whichever way they point. Rows are
    scaled since an entity's length there tells how many triples it has, which is popularity's business. Shape
    (entities, dimensions), fewer columns where the graph is small. Raises UsageError for no dimension.
    """
    if dimensions < 1:
        raise UsageError(f"dimensions are {dimensions}, expected at least 1")
    from scipy.sparse import coo_array

    n = graph.size
    both = np.concatenate([graph.subjects, graph.objects]), np.concatenate([graph.objects, graph.subjects])
    adjacency = coo_array((np.ones(len(both[0])), both), shape=(n, n)).tocsr()
    values, vectors = _truncated(adjacency, min(dimensions, n), seed)
    placed = vectors * np.sqrt(np.abs(values))
    lengths = np.linalg.norm(placed, axis=1, keepdims=True)
    # What lies outside all dimensions has a rounding error for a place: it gets none.
    scaled: Numbers = np.where(lengths > _NOTHING * lengths.max(), placed / np.maximum(lengths, _TINY), 0.0)
    return scaled


def _truncated(matrix: Any, kept: int, seed: int) -> tuple[Numbers, Numbers]:
    """The eigenvalues of greatest size of a symmetric matrix, and their vectors, which are its singular ones.

    The seed draws where the search begins, and what it goes on with on graphs of low rank.
    """
    from scipy.sparse.linalg import eigsh

    n = matrix.shape[0]
    if n <= _SMALL or kept >= n:
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        values, vectors = eigsh(matrix, k=kept, which="LM", rng=np.random.default_rng([seed, n]))
    most = np.argsort(-np.abs(values), kind="stable")[:kept]
    return values[most], vectors[:, most]
