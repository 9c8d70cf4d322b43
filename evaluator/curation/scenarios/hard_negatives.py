"""False pairs that the graph makes plausible, found from a true one (Huynh & Papotti 2019).

By random walks (Algorithm 1), or by the local closed-world assumption: who has an object that the graph knows of has
no other.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from evaluator.curation.graph.graph import Bools, Graph, Ints, Steps
from evaluator.curation.scenarios.paths import Path, Paths, walk
from evaluator.curation.scenarios.types import Types
from evaluator.statistics.random_streams import draws, shuffled

Pair = tuple[int, int]
SCHEMA = ("domain", "range")
"""Predicates about predicates, by the last part of their names: no path goes along them."""


class Plausible(NamedTuple):
    """path: codes of the steps from the subject to the object, or from the object to the subject."""

    pair: Pair
    path: Path
    from_subject: bool


class Source(Protocol):
    def plausible(self, fact: Pair) -> Iterator[Plausible]:
        """False pairs that resemble the fact, as far as they are asked for; always the same ones for a fact."""


@dataclass
class Surroundings:
    """What both kinds of source look at: all of the graph but the predicate itself."""

    graph: Graph
    predicate: str
    types: Types
    seed: int
    steps: Steps = field(init=False)
    true: Ints = field(init=False)

    def __post_init__(self) -> None:
        names = self.graph.predicates
        banned = [n for n, name in enumerate(names) if name == self.predicate or _last_part(name) in SCHEMA]
        self.steps = Steps(self.graph, without=banned)
        facts = self.graph.facts(self.predicate)
        self.true = self.graph.key(facts[:, 0], facts[:, 1])

    def is_true(self, subjects: Ints, objects: Ints) -> Bools:
        """Which of the pairs the predicate links in the graph, in either direction.

        A symmetric predicate (spouse, sibling) is often written down one way only, and holds the other way as well.
        """
        return self._holds(self.graph.key(subjects, objects)) | self._holds(self.graph.key(objects, subjects))

    def _holds(self, keys: Ints) -> Bools:
        places = np.minimum(np.searchsorted(self.true, keys), len(self.true) - 1)
        held: Bools = self.true[places] == keys
        return held

    def linked_from(self, subject: int) -> tuple[Ints, Ints]:
        """Objects that another predicate links the subject to, sorted, with the code of one such step each."""
        codes, to = self.steps.of(subject)
        forward = codes % 2 == 0
        return _each_once(codes[forward], to[forward])

    def linked_to(self, object_: int) -> tuple[Ints, Ints]:
        """Subjects that another predicate links to the object; the steps begin at the object."""
        codes, to = self.steps.of(object_)
        backward = codes % 2 == 1
        return _each_once(codes[backward], to[backward])

    def random(self, kind: str, fact: Pair) -> random.Random:
        """The draws of one fact: neither other facts nor their order move them."""
        subject, object_ = (self.graph.entities[end] for end in fact)
        return draws(self.seed, kind, subject, self.predicate, object_)


class Walks(Surroundings):
    """Random walks from either end of a fact, along predicate paths that join it to its like."""

    def plausible(self, fact: Pair) -> Iterator[Plausible]:
        """From subject and object by turns, while each of them has more."""
        rng = self.random("walks", fact)
        return _by_turns([self._from(fact, rng, from_subject=side) for side in (True, False)])

    def _from(self, fact: Pair, rng: random.Random, *, from_subject: bool) -> Iterator[Plausible]:
        begin, other = fact if from_subject else (fact[1], fact[0])
        _, found = self.linked_from(begin) if from_subject else self.linked_to(begin)
        alike = found[self._fits(begin, other, found, from_subject=from_subject)].tolist()
        rng.shuffle(alike)
        for like in alike:
            paths = Paths(self.steps, begin, like)
            for place in shuffled(len(paths), rng):
                path = paths[place]
                end = walk(self.steps, begin, path, rng)
                if end is None or end == begin:
                    continue
                if self._fits(begin, other, np.array([end]), from_subject=from_subject)[0]:
                    yield Plausible((begin, end) if from_subject else (end, begin), path, from_subject)

    def _fits(self, begin: int, other: int, ends: Ints, *, from_subject: bool) -> Bools:
        """Ends that pass the type test for the fact's other end, and that the predicate does not link to the first."""
        begins = np.full(len(ends), begin)
        true = self.is_true(begins, ends) if from_subject else self.is_true(ends, begins)
        return self.types.pass_for(other, ends) & ~true


class ClosedWorld(Surroundings):
    """Pairs that another predicate links, of the fact's subject with an object of the same types, or the other way."""

    def plausible(self, fact: Pair) -> Iterator[Plausible]:
        rng = self.random("closed world", fact)
        subject, object_ = fact
        codes, ends = self.linked_from(subject)
        fit = self.types.same(object_, ends) & ~self.is_true(np.full(len(ends), subject), ends)
        found = [Plausible((subject, end), (code,), True) for code, end in _rows(codes[fit], ends[fit])]
        codes, ends = self.linked_to(object_)
        fit = self.types.same(subject, ends) & ~self.is_true(ends, np.full(len(ends), object_))
        back = [Plausible((end, object_), (code,), False) for code, end in _rows(codes[fit], ends[fit])]
        rng.shuffle(found)
        rng.shuffle(back)
        return _by_turns([iter(found), iter(back)])


SOURCES: dict[str, type[Walks] | type[ClosedWorld]] = {"walks": Walks, "closed-world": ClosedWorld}


def collect(
    source: Source, batches: Iterable[Iterable[Pair]], n: int, used: Collection[Pair] = ()
) -> list[tuple[Plausible, Pair]]:
    """The first n different pairs, none of them used already, each with the fact it was found from.

    The facts of a batch take turns, one pair each, until none has more; then the next batch. Fewer: there are no more.
    """
    found: list[tuple[Plausible, Pair]] = []
    taken = set(used)
    for batch in batches:
        waiting = deque((fact, source.plausible(fact)) for fact in batch)
        while waiting:
            if len(found) == n:
                return found
            fact, stream = waiting.popleft()
            one = next((one for one in stream if one.pair not in taken), None)
            if one is not None:
                taken.add(one.pair)
                found.append((one, fact))
                waiting.append((fact, stream))
    return found


def _by_turns(streams: list[Iterator[Plausible]]) -> Iterator[Plausible]:
    while streams:
        for stream in list(streams):
            one = next(stream, None)
            if one is None:
                streams.remove(stream)
            else:
                yield one


def _each_once(codes: Ints, entities: Ints) -> tuple[Ints, Ints]:
    """Entities once each, with the least code that leads there."""
    unique, first = np.unique(entities, return_index=True)
    return codes[first], unique


def _rows(codes: Ints, ends: Ints) -> list[tuple[int, int]]:
    return list(zip(codes.tolist(), ends.tolist(), strict=True))


def _last_part(name: str) -> str:
    return name.strip("<>").replace("#", "/").rsplit("/", 1)[-1].rsplit(":", 1)[-1]
