"""Hard negatives: false pairs that the graph makes plausible, each derived from a true pair (Huynh & Papotti 2019).

They come from random walks (Algorithm 1), or from the local closed-world assumption: a subject with a known object of
the predicate has no other object.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from evaluator.curation.graph.graph import Bools, Graph, Ints, WalkSteps
from evaluator.curation.scenarios.paths import Path, Paths, walk
from evaluator.curation.scenarios.types import Types
from evaluator.statistics.random_streams import random_stream, shuffled

Pair = tuple[int, int]
SCHEMA = ("domain", "range")
"""Schema predicates, by the last part of their names: excluded from paths."""


class Plausible(NamedTuple):
    """A plausible false pair.

    pair: (subject, object). path: the codes of steps (`WalkSteps`) that link the pair: from subject to object if
    from_subject is True, else from object to subject.
    """

    pair: Pair
    path: Path
    from_subject: bool


class Source(Protocol):
    """A way to make plausible false claims from a true one: by random walks, or by the closed-world assumption."""

    def plausible(self, fact: Pair) -> Iterator[Plausible]:
        """Yield false (subject, object) pairs derived from the fact, lazily. Each call yields the same pairs in the
        same order.
        """


@dataclass
class HardNegativeSource:
    """Base class of the sources `Walks` and `ClosedWorld`.

    predicate: the predicate of the claims. types: for the type test of replaced entities. steps: the steps of the
    graph, without this predicate and without schema predicates. true: the keys (`Graph.key`) of all pairs that the
    predicate links, sorted.
    """

    graph: Graph
    predicate: str
    types: Types
    seed: int
    steps: WalkSteps = field(init=False)
    true: Ints = field(init=False)

    def __post_init__(self) -> None:
        names = self.graph.predicates
        banned = [n for n, name in enumerate(names) if name == self.predicate or _last_part(name) in SCHEMA]
        self.steps = WalkSteps(self.graph, without=banned)
        facts = self.graph.facts(self.predicate)
        self.true = self.graph.key(facts[:, 0], facts[:, 1])

    def is_true(self, subjects: Ints, objects: Ints) -> Bools:
        """Return a mask of the pairs that the predicate links in the graph, in either direction.

        subjects, objects: the entity numbers of the pairs. A symmetric predicate (spouse, sibling) is often stated in
        one direction only, and holds in both.
        """
        return self._holds(self.graph.key(subjects, objects)) | self._holds(self.graph.key(objects, subjects))

    def _holds(self, keys: Ints) -> Bools:
        indices = np.minimum(np.searchsorted(self.true, keys), len(self.true) - 1)
        mask: Bools = self.true[indices] == keys
        return mask

    def linked_from(self, subject: int) -> tuple[Ints, Ints]:
        """Return (codes, objects): the objects to which predicates other than that of the claims link the subject,
        sorted.

        codes: the code of a step from the subject to each object. Schema predicates are left out.
        """
        codes, to = self.steps.of(subject)
        forward = codes % 2 == 0
        return _distinct(codes[forward], to[forward])

    def linked_to(self, object_: int) -> tuple[Ints, Ints]:
        """Return (codes, subjects): the subjects that predicates other than that of the claims link to the object,
        sorted.

        codes: the code of a step from the object to each subject. Schema predicates are left out.
        """
        codes, to = self.steps.of(object_)
        backward = codes % 2 == 1
        return _distinct(codes[backward], to[backward])

    def random(self, kind: str, fact: Pair) -> random.Random:
        """Return the random generator for pairs derived from one fact, independent of other facts and their order.

        kind: the name of the source, which gives each source its own generator.
        """
        subject, object_ = (self.graph.entities[end] for end in fact)
        return random_stream(self.seed, kind, subject, self.predicate, object_)


class Walks(HardNegativeSource):
    """Source of plausible false pairs by random walks along predicate paths.

    Walks go from a fact's subject to a new object, or from its object to a new subject.
    """

    def plausible(self, fact: Pair) -> Iterator[Plausible]:
        """Yield plausible false pairs from random walks that begin at the fact's subject and at its object, in turn.

        The iterator ends when the walks from both are exhausted.
        """
        rng = self.random("walks", fact)
        return _alternate([self._from(fact, rng, from_subject=side) for side in (True, False)])

    def _from(self, fact: Pair, rng: random.Random, *, from_subject: bool) -> Iterator[Plausible]:
        begin, other = fact if from_subject else (fact[1], fact[0])
        _, entities = self.linked_from(begin) if from_subject else self.linked_to(begin)
        candidates = entities[self._fits(begin, other, entities, from_subject=from_subject)].tolist()
        rng.shuffle(candidates)
        for candidate in candidates:
            paths = Paths(self.steps, begin, candidate)
            for index in shuffled(len(paths), rng):
                path = paths[index]
                end = walk(self.steps, begin, path, rng)
                if end is None or end == begin:
                    continue
                if self._fits(begin, other, np.array([end]), from_subject=from_subject)[0]:
                    yield Plausible((begin, end) if from_subject else (end, begin), path, from_subject)

    def _fits(self, begin: int, other: int, ends: Ints, *, from_subject: bool) -> Bools:
        """Return a mask of the entities `ends` that can replace `other` in a pair with `begin`.

        Such an entity passes the type test for `other`, and its pair with `begin` is not true. from_subject: True if
        `begin` is the subject of the pair.
        """
        begins = np.full(len(ends), begin)
        true = self.is_true(begins, ends) if from_subject else self.is_true(ends, begins)
        return self.types.pass_for(other, ends) & ~true


class ClosedWorld(HardNegativeSource):
    """Source of plausible false pairs by the local closed-world assumption: pairs that another predicate links.

    A pair is the fact's subject with another object, or another subject with its object. The new entity has exactly the
    types of the entity that it replaces.
    """

    def plausible(self, fact: Pair) -> Iterator[Plausible]:
        rng = self.random("closed world", fact)
        subject, object_ = fact
        codes, ends = self.linked_from(subject)
        fit = self.types.same(object_, ends) & ~self.is_true(np.full(len(ends), subject), ends)
        from_subject = [Plausible((subject, end), (code,), True) for code, end in _rows(codes[fit], ends[fit])]
        codes, ends = self.linked_to(object_)
        fit = self.types.same(subject, ends) & ~self.is_true(ends, np.full(len(ends), object_))
        from_object = [Plausible((end, object_), (code,), False) for code, end in _rows(codes[fit], ends[fit])]
        rng.shuffle(from_subject)
        rng.shuffle(from_object)
        return _alternate([iter(from_subject), iter(from_object)])


SOURCES: dict[str, type[Walks] | type[ClosedWorld]] = {"walks": Walks, "closed-world": ClosedWorld}


def collect(
    source: Source, batches: Iterable[Iterable[Pair]], n: int, used: Collection[Pair] = ()
) -> list[tuple[Plausible, Pair]]:
    """Return the source's first n different plausible false pairs that are not in `used`, each with its fact.

    batches: the true facts to derive pairs from. The facts of a batch take turns, one pair each, until all are
    exhausted; then the next batch follows. Fewer than n pairs are returned if there are no more.
    """
    results: list[tuple[Plausible, Pair]] = []
    seen = set(used)
    for batch in batches:
        queue = deque((fact, source.plausible(fact)) for fact in batch)
        while queue:
            if len(results) == n:
                return results
            fact, stream = queue.popleft()
            candidate = next((candidate for candidate in stream if candidate.pair not in seen), None)
            if candidate is not None:
                seen.add(candidate.pair)
                results.append((candidate, fact))
                queue.append((fact, stream))
    return results


def _alternate(streams: list[Iterator[Plausible]]) -> Iterator[Plausible]:
    while streams:
        for stream in list(streams):
            item = next(stream, None)
            if item is None:
                streams.remove(stream)
            else:
                yield item


def _distinct(codes: Ints, entities: Ints) -> tuple[Ints, Ints]:
    """Return (codes, entities): the distinct entities, sorted, and the lowest code of a step that leads to each.

    codes: sorted, one for each of `entities`.
    """
    unique, first = np.unique(entities, return_index=True)
    return codes[first], unique


def _rows(codes: Ints, ends: Ints) -> list[tuple[int, int]]:
    return list(zip(codes.tolist(), ends.tolist(), strict=True))


def _last_part(name: str) -> str:
    return name.strip("<>").replace("#", "/").rsplit("/", 1)[-1].rsplit(":", 1)[-1]
