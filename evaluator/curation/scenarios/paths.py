"""Predicate paths between two entities, and random walks along them (Huynh & Papotti 2019, Algorithm 1)."""

from __future__ import annotations

import random

import numpy as np

from evaluator.curation.graph.graph import Ints, WalkSteps

Path = tuple[int, ...]
"""Codes of the steps of a path, in order; see `evaluator.curation.graph.graph.WalkSteps`."""

LONGEST = 3
_TABLE = 1 << 24


class Paths:
    """Sequence of all paths of one to three steps from one entity to another, each once, as codes of `WalkSteps`.

    The order is fixed. A path visits no entity twice, and may go along or against a triple. Between hubs there are
    thousands of paths, and few of them are walked. So paths are stored as numbers, with one digit per step, and decoded
    on access.
    """

    def __init__(self, steps: WalkSteps, begin: int, end: int) -> None:
        self._base = steps.n_codes + 1  # no digit is 0, so that paths of different lengths are different numbers
        # Paths are searched from the entity with fewer two-step walks; from the other one they are the same, reversed.
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
        first, middle, onward = _next_steps(steps, codes[away], to[away])
        joins = near[onward] & (onward != begin)
        near[before] = False
        two = _with_last_step(self._base, codes[meets] + 1, to[meets], before, last)
        known = (first[joins] + 1) * self._base + middle[joins] + 1
        three = _with_last_step(self._base, known, onward[joins], before, last)
        self._numbers = _distinct(np.concatenate([codes[direct] + 1, two, three]), self._base**LONGEST)

    @property
    def numbers(self) -> Ints:
        """Array of the numbers that encode the paths; `path_codes` decodes them.

        Equal paths have equal numbers, whichever entities they connect.
        """
        return _reversed(self._numbers, self._base) if self._turned else self._numbers

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, index: int) -> Path:
        codes = path_codes(int(self._numbers[index]), self._base - 1)
        return tuple(code ^ 1 for code in reversed(codes)) if self._turned else codes


def path_codes(number: int, n_codes: int) -> Path:
    """Return the path with this number, as codes of steps. n_codes: the number of codes, `WalkSteps.n_codes`."""
    codes = []
    while number:
        number, digit = divmod(number, n_codes + 1)
        codes.append(digit - 1)
    return tuple(reversed(codes))


def _reversed(numbers: Ints, base: int) -> Ints:
    """Return the numbers of the same paths walked in the other direction, from their ends to their beginnings.

    base: the base in which a path's number has one digit per step: the step's code + 1.
    """
    rest, result = numbers, np.zeros_like(numbers)
    for _ in range(LONGEST):
        rest, digit = np.divmod(rest, base)
        result = np.where(digit > 0, result * base + ((digit - 1) ^ 1) + 1, result)
    return result


def _next_steps(steps: WalkSteps, codes: Ints, entities: Ints) -> tuple[Ints, Ints, Ints]:
    """Return all steps from `entities` as three arrays: the code of the previous step, the step's code, its end.

    codes: for each of `entities`, the code of the previous step, which led to it.
    """
    lengths = steps.first[entities + 1] - steps.first[entities]
    indices = _ranges(steps.first[entities], lengths)
    return np.repeat(codes, lengths), steps.codes[indices], steps.to[indices]


def _with_last_step(base: int, known: Ints, meeting: Ints, before: Ints, last: Ints) -> Ints:
    """Return the numbers of the paths that arise when paths to neighbours of the end are extended to the end.

    A path is extended once by each triple between the neighbour and the end.

    base: the base in which a path's number has one digit per step: the step's code + 1. known: the numbers of the paths
    to neighbours; meeting: the neighbour that each of them reaches. before: the end's neighbours, sorted, one for each
    step to the end; last: the codes of these steps.
    """
    low, high = np.searchsorted(before, meeting, "left"), np.searchsorted(before, meeting, "right")
    indices = _ranges(low, high - low)
    return np.repeat(known, high - low) * base + last[indices] + 1


def _distinct(numbers: Ints, end: int) -> Ints:
    """Return the distinct numbers, sorted. end: exclusive upper bound."""
    if end > _TABLE or len(numbers) < end >> 8:
        return np.unique(numbers)
    table = np.zeros(end, dtype=np.bool_)
    table[numbers] = True
    return np.flatnonzero(table)


def _ranges(first: Ints, lengths: Ints) -> Ints:
    """Return the integers of several ranges, concatenated: of range i, the lengths[i] integers from first[i] on."""
    ends = np.cumsum(lengths)
    n = int(ends[-1]) if len(ends) else 0
    return np.arange(n) + np.repeat(first - ends + lengths, lengths)


def walk(steps: WalkSteps, begin: int, path: Path, rng: random.Random) -> int | None:
    """Return the end of a random walk from `begin` along the path; None if an entity on the way has no step of the
    path's.

    path: the codes of the steps. If a code leads to several entities, one of them is chosen at random.
    """
    entity = begin
    for code in path:
        ends = steps.along(entity, code)
        if not len(ends):
            return None
        entity = int(ends[rng.randrange(len(ends))])
    return entity
