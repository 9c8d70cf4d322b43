"""A knowledge graph in arrays: who is linked to whom by which predicate, and how often."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Triple(NamedTuple):
    """Names, as the files have them."""

    subject: str
    predicate: str
    object: str


class Graph:
    """A set of triples: one that is given twice counts once.

    Entities and predicates are numbered in the order of their names, so that the order of lines is of no matter.
    subjects, predicates_of, objects: the triples' numbers, sorted, one entry a triple.
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
        """The number of entities."""
        return len(self.entities)

    @cached_property
    def degrees(self) -> Ints:
        """How many triples each entity is the subject of, plus how many it is the object of."""
        return np.bincount(self.subjects, minlength=self.size) + np.bincount(self.objects, minlength=self.size)

    @cached_property
    def linked(self) -> frozenset[int]:
        """The keys of all pairs that some predicate links, in that direction."""
        return frozenset(self.key(self.subjects, self.objects).tolist())

    def key(self, subject: Ints, object_: Ints) -> Ints:
        """One number a pair."""
        return subject * self.size + object_

    def facts(self, predicate: str) -> Ints:
        """The pairs that the predicate links, sorted: shape (facts, 2). None for a predicate that the graph lacks."""
        number = self.predicate_number.get(predicate, -1)
        first, end = np.searchsorted(self.predicates_of, [number, number + 1])
        return np.stack([self.subjects[first:end], self.objects[first:end]], axis=1)


class Steps:
    """Each entity's neighbours, in either direction: what a walk can do next. No step leads to where it began.

    A step has a code: twice the predicate's number, plus one against the triple's direction.
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
        # How many walks of two steps begin there: the work of looking for paths from that end.
        self.reach = np.bincount(begin[order], weights=degree[self.to], minlength=graph.size)

    def of(self, entity: int) -> tuple[Ints, Ints]:
        """Codes and ends of the steps from there, by code."""
        here = slice(self.first[entity], self.first[entity + 1])
        return self.codes[here], self.to[here]

    def along(self, entity: int, code: int) -> Ints:
        """Where steps of that code lead."""
        codes, to = self.of(entity)
        first, end = np.searchsorted(codes, [code, code + 1])
        return to[first:end]

    def marked(self, entities: Ints) -> Bools:
        """A mask over all entities; the caller clears it again."""
        self._marked[entities] = True
        return self._marked
