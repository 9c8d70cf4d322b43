"""Matrices of walks agree with the walks between each two entities."""

from itertools import product

import numpy as np
import pytest

from evaluator.reference_systems.graphs.graph import Graph
from evaluator.reference_systems.graphs.reach import Reach
from evaluator.reference_systems.graphs.walks import Walks


@pytest.mark.parametrize("seed", range(4))
def test_products_agree_with_walks_between_two_entities(seed) -> None:
    """No claim's triple is left out (step -2); the graph has loops and duplicates."""
    rng = np.random.default_rng(seed)
    triples = [("abcde"[s], "rs"[r], "abcde"[o]) for s, r, o in rng.integers(0, (5, 2, 5), (12, 3)).tolist()]
    walks = Walks(Graph.of([*triples, triples[0], ("a", "r", "a")]))
    starts = np.arange(len(walks.graph.entities))
    paths = sorted(path for length in (1, 2, 3) for path in product(range(walks.steps), repeat=length))
    found = {name: list(Reach(walks, probabilities=name == "p").ends(starts, paths)) for name in "np"}
    for start, end in product(starts.tolist(), repeat=2):
        between = walks.between(start, -2, end)
        codes = between.codes.tolist()
        right = dict(zip((tuple(walks.relations_of(code)) for code in codes), range(len(codes)), strict=True))
        for index, path in enumerate(paths):
            count, probability = found["n"][index][start, end], found["p"][index][start, end]
            if path in right:
                assert count == pytest.approx(between.counts[right[path]])
                assert probability == pytest.approx(between.probabilities[right[path]])
            else:
                assert count == probability == 0


def test_any_order_of_paths_and_starts() -> None:
    walks = Walks(Graph.of([("a", "r", "b"), ("b", "s", "c"), ("c", "r", "a"), ("b", "r", "d")]))
    reach = Reach(walks, probabilities=True)
    paths = [(0, 2), (0,), (0, 2, 0), (2, 0), (0, 2)]
    together = [matrix.toarray() for matrix in reach.ends(np.array([1, 0]), paths)]
    for path, matrix in zip(paths, together, strict=True):
        (alone,) = reach.ends(np.array([0, 1]), [path])
        assert np.array_equal(matrix, alone.toarray()[::-1])
