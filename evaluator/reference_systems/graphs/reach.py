"""Numbers or probabilities of the walks along a path from many entities at once, by products of sparse matrices.

The walks are those of `graphs/walks.py`: they visit no entity twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np

from evaluator.reference_systems.graphs.graph import Ints
from evaluator.reference_systems.graphs.walks import Walks

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Path = tuple[int, ...]
"""One to three steps, as `Walks` numbers them."""
_ROUNDING = 1 + 1e-12
"""A part of a sum is subtracted with this factor, so that the rest is not above 0 because of rounding errors."""


class Reach:
    """Matrices of walks: the number, or the probability, of the walks along a path from one entity to another."""

    def __init__(self, walks: Walks, *, probabilities: bool) -> None:
        """Prepare the computation; the matrices are computed on request.

        probabilities: True if the matrices have the probability that a walker from the first entity ends at the other,
        who at each step takes a random triple of the path's next relation; False for the number of walks.
        """
        self._walks = walks
        self._probabilities = probabilities
        self._matrices: dict[int, csr_matrix] = {}
        self._transposed: dict[int, csr_matrix] = {}

    def step(self, step: int) -> csr_matrix:
        """Return the matrix of a path of one step: shape (entities, entities).

        step: a relation and direction, as `Walks` numbers them.
        """
        if step not in self._matrices:
            from scipy.sparse import csr_matrix

            starts, ends, probabilities = self._walks.edges_of(step)
            values = probabilities if self._probabilities else np.ones(len(starts))
            n = len(self._walks.graph.entities)
            self._matrices[step] = csr_matrix((values, (starts, ends)), shape=(n, n))
        return self._matrices[step]

    def ends(self, starts: Ints, paths: Sequence[Path]) -> Iterator[csr_matrix]:
        """Yield for each path the matrix of its walks from the entities `starts`: shape (starts, entities).

        starts: numbers of entities. paths: consecutive paths that begin with the same steps share the work of these
        steps.
        """
        taken: list[csr_matrix] = []
        before: Path = ()
        for path in paths:
            same = 0
            while same < min(len(before), len(path)) and before[same] == path[same]:
                same += 1
            del taken[same:]
            for length in range(same, len(path)):
                taken.append(self._longer(starts, path[: length + 1], taken))
            before = path
            yield taken[-1]

    def _longer(self, starts: Ints, path: Path, taken: Sequence[csr_matrix]) -> csr_matrix:
        """Return the matrix of a path: shape (starts, entities).

        taken: the matrices of the path's first step, of its first two steps, and so on, up to the path without its last
        step.
        """
        if not taken:
            return self.step(path[0])[starts]
        matrix = taken[-1] @ self.step(path[-1])
        if len(taken) == 2:
            matrix = matrix - self._returning(starts, path, taken[0]) * _ROUNDING
            matrix.data[matrix.data < 0] = 0
        rows = np.repeat(np.arange(len(starts)), np.diff(matrix.indptr))
        matrix.data[matrix.indices == starts[rows]] = 0
        matrix.eliminate_zeros()
        return matrix

    def _returning(self, starts: Ints, path: Path, first: csr_matrix) -> csr_matrix:
        """Return the matrix of those walks along a path of three steps that return to their second entity at the end.

        Walks whose third entity is their start are left out. first: the matrix of the path's first step.
        """
        there, back = self.step(path[1]), self._transpose(path[2])
        round_trips = np.asarray(there.multiply(back).sum(axis=1)).ravel()
        by_start = first.multiply(self._transpose(path[1])[starts]).multiply(self.step(path[2])[starts])
        return (first.multiply(round_trips[None, :]) - by_start).tocsr()

    def _transpose(self, step: int) -> csr_matrix:
        if step not in self._transposed:
            self._transposed[step] = self.step(step).T.tocsr()
        return self._transposed[step]
