"""Walks of up to three steps between two entities of a graph, by the relations that they follow.

A step follows a triple from subject to object, or back. A walk visits no entity twice, so that triples whose subject is
their object do not matter.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.errors import UsageError
from evaluator.outcomes.table import Numbers
from evaluator.reference_systems.graphs.graph import Graph, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

LONGEST = 3


class Edges(NamedTuple):
    """Steps from one entity, sorted by the entities where they end (`ends`).

    relations: each step's relation and direction, as `Walks` numbers them. probabilities: 1 / the number of steps of
    the same relation and direction from the entity where the step starts.
    """

    relations: Ints
    ends: Ints
    probabilities: Numbers


class Paths(NamedTuple):
    """All paths between two entities. A path is a sequence of relations; a walk along it also names the entities.

    codes: each path as one number, see `Walks.relations_of`; ascending, unique. counts: the number of walks along each
    path. probabilities: for each path, the probability that a walker from the subject, who at each step takes a random
    triple of the path's next relation, ends at the object.
    """

    codes: Ints
    counts: Numbers
    probabilities: Numbers


class Walks:
    """The steps of a graph. Relation r has the number 2r from subject to object, and 2r + 1 from object to subject."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.steps = 2 * len(graph.relations)
        if (self.steps + 1) ** LONGEST > np.iinfo(np.int64).max:
            raise UsageError(f"the graph has {len(graph.relations)} relations, expected at most a million")
        triples = np.unique(graph.triples, axis=0)
        subjects, relations, objects = triples[triples[:, 0] != triples[:, 2]].T
        starts = np.concatenate([subjects, objects])
        steps = np.concatenate([2 * relations, 2 * relations + 1])
        ends = np.concatenate([objects, subjects])
        order = np.lexsort((steps, ends, starts))
        self._starts, self._steps, self._ends = starts[order], steps[order], ends[order]
        self._keys, index, self._key_counts = np.unique(
            self._starts * self.steps + self._steps, return_inverse=True, return_counts=True
        )
        self._fanout: Ints = self._key_counts[index]  # of each step, how many have its start and relation
        self._first = np.searchsorted(self._starts, np.arange(len(graph.entities) + 1))

    @cached_property
    def degrees(self) -> Ints:
        """The number of steps from each entity."""
        return np.diff(self._first)

    def edges(self, entity: int) -> Edges:
        """Return the steps from an entity. entity: its number; -1 for an unknown entity, which has no steps."""
        part = slice(self._first[entity], self._first[entity + 1]) if entity >= 0 else slice(0)
        return Edges(self._steps[part], self._ends[part], 1 / self._fanout[part])

    def edges_of(self, step: int) -> tuple[Ints, Ints, Numbers]:
        """Return the triples of a step as (entities where they start, entities where they end, probabilities).

        step: a relation and direction, by number. Each array has one entry per triple of this relation. The
        probabilities are as in `Edges`.
        """
        order, first = self._by_step
        edges = order[first[step] : first[step + 1]]
        return self._starts[edges], self._ends[edges], 1 / self._fanout[edges]

    def between(self, first: int, claimed_step: int, last: int, longest: int = LONGEST) -> Paths:
        """Return the paths of at most `longest` steps (1 to 3) from the entity `first` to the entity `last`.

        The triple by which the step `claimed_step` leads from `first` to `last` is not used. Entities are numbers in
        the graph, or -1 if unknown. An entity has no path to itself.
        """
        start, end = self.edges(first if first != last else -1), self._arriving(last)
        direct = start.ends == last
        claimed = direct & (start.relations == claimed_step)
        if claimed.any():  # the walker does not know the claim's triple
            same = start.relations == claimed_step
            with np.errstate(divide="ignore"):
                start = start._replace(probabilities=np.where(same, 1 / (same.sum() - 1.0), start.probabilities))
        one = direct & ~claimed
        codes = [start.relations[one] + 1]
        probabilities = [start.probabilities[one]]
        start = Edges(*(part[~direct & (start.ends != first)] for part in start))
        end = Edges(*(part[(end.ends != first) & (end.ends != last)] for part in end))
        base = self.steps + 1
        if longest >= 2:
            left, right = _joined(start.ends, end.ends)
            codes.append((start.relations[left] + 1) * base + end.relations[right] + 1)
            probabilities.append(start.probabilities[left] * end.probabilities[right])
        if longest >= LONGEST:
            left, middle, right = self._between(start.ends, end.ends)
            length_two = (start.relations[left] + 1) * base + self._steps[middle] + 1
            codes.append(length_two * base + end.relations[right] + 1)
            probabilities.append(start.probabilities[left] / self._fanout[middle] * end.probabilities[right])
        unique, index, counts = np.unique(np.concatenate(codes), return_inverse=True, return_counts=True)
        total = np.bincount(index, weights=np.concatenate(probabilities), minlength=len(unique)).astype(np.float64)
        return Paths(unique, counts.astype(np.float64), total)

    def relations_of(self, code: int) -> list[int]:
        """Return the numbers of a path's steps, as `Walks` numbers them, from the path's code.

        The digits of the code, in base `steps` + 1, are these numbers plus 1.
        """
        steps: list[int] = []
        while code:
            code, digit = divmod(code, self.steps + 1)
            steps.append(digit - 1)
        return steps[::-1]

    def _arriving(self, entity: int) -> Edges:
        """Return the steps that arrive at an entity, with the entities from which they come as `ends`."""
        part = slice(self._first[entity], self._first[entity + 1]) if entity >= 0 else slice(0)
        back, starts = self._steps[part] ^ 1, self._ends[part]
        return Edges(back, starts, 1 / self._fanout_of(starts, back))

    def _fanout_of(self, entities: Ints, steps: Ints) -> Ints:
        return self._key_counts[np.searchsorted(self._keys, entities * self.steps + steps)]

    def _between(self, starts: Ints, ends: Ints) -> tuple[Ints, Ints, Ints]:
        """Return all steps from `starts` to `ends`, both sorted, as arrays: index of start, of step and of end.

        For speed, the steps of `starts` are read or those of `ends`, whichever are fewer.
        """
        if self.degrees[starts].sum() > self.degrees[ends].sum():
            last, middle, first = self._between_from(ends, starts)
            return first, self._reverse[middle], last
        return self._between_from(starts, ends)

    def _between_from(self, starts: Ints, ends: Ints) -> tuple[Ints, Ints, Ints]:
        counts = self.degrees[starts]
        first = np.repeat(np.arange(len(starts)), counts)
        steps = _ranges(self._first[starts], counts)
        low = np.searchsorted(ends, self._ends[steps], "left")
        hits = np.searchsorted(ends, self._ends[steps], "right") - low
        chosen = np.flatnonzero(hits)
        hits = hits[chosen]
        return np.repeat(first[chosen], hits), np.repeat(steps[chosen], hits), _ranges(low[chosen], hits)

    @cached_property
    def step_counts(self) -> csr_matrix:
        """The number of steps of each kind (relation and direction) from each entity: shape (entities, steps)."""
        from scipy.sparse import csr_matrix

        shape = (len(self.graph.entities), self.steps)
        return csr_matrix((np.ones(len(self._starts)), (self._starts, self._steps)), shape=shape)

    @cached_property
    def _by_step(self) -> tuple[Ints, Ints]:
        """(Indices of all steps, sorted by number; for each number, where its steps begin in this order)."""
        order = np.argsort(self._steps, kind="stable")
        return order, np.searchsorted(self._steps[order], np.arange(self.steps + 1))

    @cached_property
    def _reverse(self) -> Ints:
        """For each step, the index of the same triple's step in the opposite direction."""
        starts = np.repeat(np.arange(len(self._first) - 1), self.degrees)
        reverse: Ints = np.empty_like(starts)
        reverse[np.lexsort((self._steps ^ 1, starts, self._ends))] = np.arange(len(starts))
        return reverse


def _joined(left: npt.NDArray[np.int64], right: npt.NDArray[np.int64]) -> tuple[Ints, Ints]:
    """Return the indices (i, j) of all pairs with left[i] == right[j], as two arrays. right: sorted."""
    low = np.searchsorted(right, left, "left")
    counts = np.searchsorted(right, left, "right") - low
    return np.repeat(np.arange(len(left)), counts), _ranges(low, counts)


def _ranges(starts: Ints, counts: Ints) -> Ints:
    """Return all ranges start, start + 1, ..., start + count - 1, one after the other.

    starts, counts: one number per range.
    """
    return np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
