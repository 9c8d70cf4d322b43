"""A place for each entity in a space of few dimensions, where nobody brings trained ones: entities with alike
neighbours lie close."""

from __future__ import annotations

import numpy as np

from evaluator.curation.graph import Graph
from evaluator.outcomes import Numbers

DIMENSIONS = 50


def embed(graph: Graph, *, seed: int, dimensions: int = DIMENSIONS) -> Numbers:
    """Left singular vectors of the graph's adjacency, each times the root of its singular value, rows of length 1.

    The adjacency is symmetric: an entry counts the triples between two entities, whichever way they point. Rows are
    scaled since an entity's length there tells how many triples it has, which is popularity's business. Shape
    (entities, dimensions), fewer columns where the graph is small. A truncated decomposition begins with a random
    vector: it is drawn with the seed.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.linalg import svds

    n = graph.size
    both = np.concatenate([graph.subjects, graph.objects]), np.concatenate([graph.objects, graph.subjects])
    adjacency = coo_array((np.ones(len(both[0])), both), shape=(n, n)).tocsr()
    kept = min(dimensions, n - 1)
    if kept < 1:
        return np.zeros((n, 1))
    begin = np.random.default_rng([seed, n]).standard_normal(n)
    left, values, _ = svds(adjacency, k=kept, v0=begin, solver="arpack")
    placed = left[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0))
    lengths = np.linalg.norm(placed, axis=1, keepdims=True)
    scaled: Numbers = placed / np.where(lengths > 0, lengths, 1.0)
    return scaled
