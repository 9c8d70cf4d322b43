"""Spectral embeddings of entities, for graphs without trained ones: entities with similar neighbours are close."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluator.curation.graph.graph import Graph
from evaluator.errors import UsageError
from evaluator.outcomes.table import Numbers

DIMENSIONS = 50
_SMALL = 500  # entities, below which the full decomposition is as cheap
_NOTHING = 1e-9
_TINY = 1e-300


def embed(graph: Graph, *, seed: int, dimensions: int = DIMENSIONS) -> Numbers:
    """Return the entities' coordinates in singular vectors of the adjacency matrix, scaled to rows of length 1.

    Each singular vector is multiplied by the square root of its singular value. The matrix is symmetric: an entry
    counts the triples between two entities in either direction. Rows are normalised because their length reflects the
    number of triples, which is popularity. Shape (entities, dimensions), fewer columns for small graphs. Raises
    UsageError for less than one dimension.
    """
    if dimensions < 1:
        raise UsageError(f"the number of dimensions is {dimensions}, expected at least 1")
    from scipy.sparse import coo_array

    n = graph.size
    indices = np.concatenate([graph.subjects, graph.objects]), np.concatenate([graph.objects, graph.subjects])
    adjacency = coo_array((np.ones(len(indices[0])), indices), shape=(n, n)).tocsr()
    values, vectors = _truncated(adjacency, min(dimensions, n), seed)
    coordinates = vectors * np.sqrt(np.abs(values))
    lengths = np.linalg.norm(coordinates, axis=1, keepdims=True)
    # An entity outside all dimensions has only rounding errors as coordinates: it gets zeros.
    scaled: Numbers = np.where(lengths > _NOTHING * lengths.max(), coordinates / np.maximum(lengths, _TINY), 0.0)
    return scaled


def _truncated(matrix: Any, k: int, seed: int) -> tuple[Numbers, Numbers]:
    """Return (the k eigenvalues of a symmetric matrix that are largest in absolute value, their eigenvectors as
    columns).

    The eigenvectors are also singular vectors. The seed determines the start vector of the iteration, and its restarts
    on graphs of low rank.
    """
    from scipy.sparse.linalg import eigsh

    n = matrix.shape[0]
    if n <= _SMALL or k >= n:
        values, vectors = np.linalg.eigh(matrix.toarray())
    else:
        values, vectors = eigsh(matrix, k=k, which="LM", rng=np.random.default_rng([seed, n]))
    largest = np.argsort(-np.abs(values), kind="stable")[:k]
    return values[largest], vectors[:, largest]
