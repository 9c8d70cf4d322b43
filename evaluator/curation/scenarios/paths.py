"""Predicate paths between two entities, and random walks along them (Huynh & Papotti 2019, Algorithm 1)."""

from __future__ import annotations

import random

import numpy as np

from evaluator.curation.graph import Ints, Steps

LONGEST = 3
Path = tuple[int, ...]
"""Codes of steps."""


def predicate_paths(steps: Steps, begin: int, end: int) -> list[Path]:
    """The codes along every path of one to three steps from one entity to another, sorted, each once.

    A path visits no entity twice; steps go in either direction.
    """
    if steps.reach[begin] > steps.reach[end]:  # the same paths from their other end, where there is less to look at
        return sorted(tuple(code ^ 1 for code in reversed(path)) for path in predicate_paths(steps, end, begin))
    codes, to = steps.of(begin)
    paths: set[Path] = {(code,) for code in codes[to == end].tolist()}
    back, before = steps.of(end)
    last = back ^ 1  # a step from the end, taken the other way
    near = steps.marked(before)
    meets = near[to]
    paths.update(_joined(steps, [codes[meets]], to[meets], before, last))
    away = to != end
    first, middle, onward = _onward(steps, codes[away], to[away])
    meets = near[onward] & (onward != begin)
    paths.update(_joined(steps, [first[meets], middle[meets]], onward[meets], before, last))
    near[before] = False
    return sorted(paths)


def _onward(steps: Steps, codes: Ints, entities: Ints) -> tuple[Ints, Ints, Ints]:
    """Every step that follows: the code before it, its own, and where it leads."""
    lengths = steps.first[entities + 1] - steps.first[entities]
    ends = np.cumsum(lengths)
    places = np.arange(ends[-1] if len(ends) else 0) + np.repeat(steps.first[entities] - ends + lengths, lengths)
    return np.repeat(codes, lengths), steps.codes[places], steps.to[places]


def _joined(steps: Steps, codes: list[Ints], meeting: Ints, before: Ints, last: Ints) -> list[Path]:
    """Paths that reach an entity next to the end, with the last step: several, where several triples link the two."""
    if not len(meeting):
        return []
    number = meeting
    for code in codes:
        number = number * steps.n_codes + code
    unique = np.unique(number)
    by_entity = np.argsort(before, kind="stable")
    before, last = before[by_entity], last[by_entity]
    met = unique // steps.n_codes ** len(codes)
    low, high = np.searchsorted(before, met, "left"), np.searchsorted(before, met, "right")
    rest = (unique % steps.n_codes ** len(codes)).tolist()
    found: dict[int, None] = {}
    for known, first, end in zip(rest, low.tolist(), high.tolist(), strict=True):
        for code in last[first:end].tolist():
            found[known * steps.n_codes + code] = None
    return [_decoded(value, len(codes) + 1, steps.n_codes) for value in found]


def _decoded(number: int, length: int, n_codes: int) -> Path:
    codes = []
    for _ in range(length):
        number, code = divmod(number, n_codes)
        codes.append(code)
    return tuple(reversed(codes))


def walk(steps: Steps, begin: int, path: Path, rng: random.Random) -> int | None:
    """Where a random walk along the path ends: each step to one of the entities it may lead to; None: nowhere."""
    here = begin
    for code in path:
        ends = steps.along(here, code)
        if not len(ends):
            return None
        here = int(ends[rng.randrange(len(ends))])
    return here
