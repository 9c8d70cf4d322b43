"""A knowledge graph as arrays: triples, degrees of entities, and the steps of random walks."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Triple(NamedTuple):
    """A triple: the names of its subject, predicate and object, as in the files."""

    subject: str
    predicate: str
    object: str


class Graph:
    """A set of triples, without duplicates.

    Entities and predicates are numbered in the order of their names, so that the order of lines does not matter.
    subjects, predicates_of, objects: the numbers of each triple's parts, one entry per triple, sorted by predicate,
    then subject, then object.
    """

    def __init__(self, triples: Iterable[tuple[str, str, str]]) -> None:
        unique = set(triples)
        self.entities = sorted({end for s, _, o in unique for end in (s, o)})
        self.predicates = sorted({p for _, p, _ in unique})
        self.number = {name: number for number, name in enumerate(self.entities)}
        self.predicate_number = {name: number for number, name in enumerate(self.predicates)}
        entity, predicate = self.number, self.predicate_number
        rows = np.array([(predicate[p], entity[s], entity[o]) for s, p, o in unique], dtype=np.int64).reshape(-1, 3)
        rows = rows[np.lexsort(rows.T[::-1])]
        self.predicates_of, self.subjects, self.objects = (np.ascontiguousarray(column) for column in rows.T)

    @property
    def size(self) -> int:
        """Number of entities."""
        return len(self.entities)

    @cached_property
    def degrees(self) -> Ints:
        """Degree of each entity: the number of triples with it as subject, plus the number with it as object."""
        return np.bincount(self.subjects, minlength=self.size) + np.bincount(self.objects, minlength=self.size)

    @cached_property
    def linked(self) -> frozenset[int]:
        """Set of the keys (see `key`) of all (subject, object) pairs that at least one predicate links."""
        return frozenset(self.key(self.subjects, self.objects).tolist())

    def key(self, subject: Ints, object_: Ints) -> Ints:
        """Return one number for each (subject, object) pair of entity numbers; different pairs have different keys."""
        return subject * self.size + object_

    def facts(self, predicate: str) -> Ints:
        """Return the (subject, object) pairs that the predicate links, as entity numbers, sorted: shape (facts, 2).

        There are none for an unknown predicate.
        """
        number = self.predicate_number.get(predicate, -1)
        first, end = np.searchsorted(self.predicates_of, [number, number + 1])
        return np.stack([self.subjects[first:end], self.objects[first:end]], axis=1)


class WalkSteps:
    """Each entity's neighbours in either direction: the possible steps of a walk, without steps from an entity to
    itself.

    A step has a code: twice the predicate's number, plus one if it goes from the object to the subject. without: the
    numbers of predicates to leave out. reach: the number of two-step walks from each entity.
    """

    def __init__(self, graph: Graph, *, without: Iterable[int] = ()) -> None:
        keep = (graph.subjects != graph.objects) & ~np.isin(graph.predicates_of, list(without))
        subjects, objects, codes = graph.subjects[keep], graph.objects[keep], 2 * graph.predicates_of[keep]
        begin, to = np.concatenate([subjects, objects]), np.concatenate([objects, subjects])
        code = np.concatenate([codes, codes + 1])
        order = np.lexsort((to, code, begin))
        self.codes, self.to = code[order], to[order]
        self.n_codes = 2 * len(graph.predicates)
        self.first = np.searchsorted(begin[order], np.arange(graph.size + 1))
        self._marked = np.zeros(graph.size, dtype=np.bool_)
        degree = np.diff(self.first)
        # The number of two-step walks from an entity is the cost of searching paths from it.
        self.reach = np.bincount(begin[order], weights=degree[self.to], minlength=graph.size)

    def of(self, entity: int) -> tuple[Ints, Ints]:
        """Return (codes, entities): the codes of the steps from the entity, ascending, and the entity where each step
        ends.
        """
        steps = slice(self.first[entity], self.first[entity + 1])
        return self.codes[steps], self.to[steps]

    def along(self, entity: int, code: int) -> Ints:
        """Return the entities to which the steps with this code lead from the entity.

        There may be several, since a code stands for a predicate and a direction.
        """
        codes, to = self.of(entity)
        first, end = np.searchsorted(codes, [code, code + 1])
        return to[first:end]

    def marked(self, entities: Ints) -> Bools:
        """Return a mask over all entities, True for `entities`.

        All calls return the same array: the caller sets these entries to False after use.
        """
        self._marked[entities] = True
        return self._marked
