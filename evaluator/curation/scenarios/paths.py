"""Predicate paths between two entities, and random walks along them (Huynh & Papotti 2019, Algorithm 1)."""

from __future__ import annotations

import random

import numpy as np

from evaluator.curation.graph.graph import Ints, Steps

Path = tuple[int, ...]
"""Codes of steps."""

LONGEST = 3
_TABLE = 1 << 24


class Paths:
    """The codes along every path of one to three steps from one entity to another, each once, in a fixed order.

    A path visits no entity twice; steps go in either direction. Between hubs there are thousands, of which few are
    walked: they are kept as numbers, with a digit a step, and taken apart one at a time.
    """

    def __init__(self, steps: Steps, begin: int, end: int) -> None:
        self._base = steps.n_codes + 1  # no digit is 0, so that paths of different lengths are different numbers
        # Looked for from the end with less to look at: the other end's paths are the same, turned round.
        self._turned = bool(steps.reach[begin] > steps.reach[end])
        if self._turned:
            begin, end = end, begin
        codes, to = steps.of(begin)
        back, before = steps.of(end)
        order = np.argsort(before, kind="stable")
        before, last = before[order], (back ^ 1)[order]  # a step from the end, taken the other way
        near = steps.marked(before)
        direct, away = to == end, to != end
        meets = near[to]
        first, middle, onward = _onward(steps, codes[away], to[away])
        joins = near[onward] & (onward != begin)
        near[before] = False
        two = _finished(self._base, codes[meets] + 1, to[meets], before, last)
        known = (first[joins] + 1) * self._base + middle[joins] + 1
        three = _finished(self._base, known, onward[joins], before, last)
        self._numbers = _different(np.concatenate([codes[direct] + 1, two, three]), self._base**LONGEST)

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, place: int) -> Path:
        number, codes = int(self._numbers[place]), []
        while number:
            number, digit = divmod(number, self._base)
            codes.append(digit - 1)
        return tuple(code ^ 1 for code in codes) if self._turned else tuple(reversed(codes))


def _onward(steps: Steps, codes: Ints, entities: Ints) -> tuple[Ints, Ints, Ints]:
    """Every step that follows: the code before it, its own, and where it leads."""
    lengths = steps.first[entities + 1] - steps.first[entities]
    places = _ranges(steps.first[entities], lengths)
    return np.repeat(codes, lengths), steps.codes[places], steps.to[places]


def _finished(base: int, known: Ints, meeting: Ints, before: Ints, last: Ints) -> Ints:
    """Paths that reach an entity next to the end, each with its last step: several, where several triples link the two.

    known: the paths' numbers so far; meeting: the entities they reach. before: the end's neighbours, sorted; last: the
    codes from them to the end.
    """
    low, high = np.searchsorted(before, meeting, "left"), np.searchsorted(before, meeting, "right")
    places = _ranges(low, high - low)
    return np.repeat(known, high - low) * base + last[places] + 1


def _different(numbers: Ints, end: int) -> Ints:
    """Each number once, sorted. end: all are below it."""
    if end > _TABLE or len(numbers) < end >> 8:
        return np.unique(numbers)
    table = np.zeros(end, dtype=np.bool_)
    table[numbers] = True
    return np.flatnonzero(table)


def _ranges(first: Ints, lengths: Ints) -> Ints:
    """All places of ranges that begin at `first`, one range after the other."""
    ends = np.cumsum(lengths)
    n = int(ends[-1]) if len(ends) else 0
    return np.arange(n) + np.repeat(first - ends + lengths, lengths)


def walk(steps: Steps, begin: int, path: Path, rng: random.Random) -> int | None:
    """Where a random walk along the path ends: each step to one of the entities it may lead to; None: nowhere."""
    here = begin
    for code in path:
        ends = steps.along(here, code)
        if not len(ends):
            return None
        here = int(ends[rng.randrange(len(ends))])
    return here
