"""The ends of walks along a path from many entities at once, by products of sparse matrices.

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
    """Matrices of walks: how many lead from an entity to another along a path, or with which probability."""

    def __init__(self, walks: Walks, *, probabilities: bool) -> None:
        """probabilities: True for the probability that a walker from the first entity ends at the other, who at each
        step takes a random triple of the path's next relation; False for the number of walks.
        """
        self._walks = walks
        self._probabilities = probabilities
        self._matrices: dict[int, csr_matrix] = {}
        self._transposed: dict[int, csr_matrix] = {}

    def step(self, step: int) -> csr_matrix:
        """Return the matrix of a path of one step: shape (entities, entities)."""
        if step not in self._matrices:
            from scipy.sparse import csr_matrix

            starts, ends, probabilities = self._walks.edges_of(step)
            values = probabilities if self._probabilities else np.ones(len(starts))
            n = len(self._walks.graph.entities)
            self._matrices[step] = csr_matrix((values, (starts, ends)), shape=(n, n))
        return self._matrices[step]

    def ends(self, starts: Ints, paths: Sequence[Path]) -> Iterator[csr_matrix]:
        """Yield for each path the matrix of walks from `starts`, entities by number: shape (starts, entities).

        Consecutive paths that begin with the same steps share the work of these.
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
        """Return the matrix of a path. taken: those of the paths that it begins with, from one step to all but one."""
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
        """Return the part of a path of three steps whose walks end at their second entity, but do not pass the start.

        first: the matrix of the path's first step.
        """
        there, back = self.step(path[1]), self._transpose(path[2])
        round_trips = np.asarray(there.multiply(back).sum(axis=1)).ravel()
        by_start = first.multiply(self._transpose(path[1])[starts]).multiply(self.step(path[2])[starts])
        return (first.multiply(round_trips[None, :]) - by_start).tocsr()

    def _transpose(self, step: int) -> csr_matrix:
        if step not in self._transposed:
            self._transposed[step] = self.step(step).T.tocsr()
        return self._transposed[step]
