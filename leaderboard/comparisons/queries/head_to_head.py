"""The read side of two systems side by side: as much of their comparison as their phase tells."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaluator.statistics.multiple_testing import ALPHA, holm
from leaderboard.boards.disclosure.policies import reveals_comparisons, reveals_counts, reveals_items
from leaderboard.boards.queries import WHOLE, Cell, Key, Row, Slice, slice_of
from leaderboard.models import Phase, SideBySide


@dataclass(frozen=True)
class Counts:
    """Units by who has them right."""

    both: int
    a_only: int
    b_only: int
    neither: int


@dataclass(frozen=True)
class Line:
    """One measure on one slice: what boards show of both, and what was computed. None: there is no such number.

    p: for this line alone; p_holm: corrected for the lines of its table.
    """

    title: str
    slice: Slice
    a: Cell
    b: Cell
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    p_holm: float | None = None
    counts: Counts | None = None

    @property
    def significant(self) -> bool:
        p = self.p if self.p_holm is None else self.p_holm
        return p is not None and p <= ALPHA


@dataclass(frozen=True)
class Item:
    """A unit that everybody may read, with its line of gold."""

    id: str
    line: str


@dataclass(frozen=True)
class Beside:
    """a, b: the two as the reader chose them. computed: there are differences; the others are empty without it."""

    a: Row
    b: Row
    computed: bool
    found: Mapping[Key, Mapping[str, Any]]
    counted: Mapping[Key, Counts]
    items: Mapping[str, tuple[Sequence[Item], Sequence[Item]]]

    def line(self, title: str, measure: str, slice_: Slice = WHOLE) -> Line:
        key = (measure, slice_)
        told = self.found.get(key, {})
        return Line(
            title,
            slice_,
            self.a.cell(measure, slice_),
            self.b.cell(measure, slice_),
            difference=told.get("difference"),
            low=told.get("low"),
            high=told.get("high"),
            p=told.get("p"),
            counts=self.counted.get(key),
        )

    def lines(self, asked: Sequence[tuple[str, str, Slice]]) -> list[Line]:
        """Lines of (title, measure, slice) as one family: p corrected for their number."""
        lines = [self.line(*one) for one in asked]
        raised = holm([np.nan if line.p is None else line.p for line in lines])
        return [
            line if line.p is None else replace(line, p_holm=float(p_holm))
            for line, p_holm in zip(lines, raised, strict=True)
        ]


def beside(phase: Phase, a: Row, b: Row, stored: SideBySide | None) -> Beside:
    """stored: the pair's row if it is there and done. All of it passes the phase's disclosure."""
    report = stored.report if stored is not None and reveals_comparisons(phase) else {}
    is_turned = stored is not None and stored.a_id != a.run_id
    found = {key_of(one): _turned(one) if is_turned else one for one in report.get("comparisons", ())}
    counted: dict[Key, Counts] = {}
    items: dict[str, tuple[Sequence[Item], Sequence[Item]]] = {}
    sides = ("b_only", "a_only") if is_turned else ("a_only", "b_only")
    if reveals_counts(phase):
        for one in report.get("counts", ()):
            counted[key_of(one)] = Counts(one["both"], one[sides[0]], one[sides[1]], one["neither"])
    if reveals_items(phase):
        for one in report.get("items", ()):
            here, there = ([Item(json.dumps(id_), line) for id_, line in one[side]] for side in sides)
            items[one["measure"]] = here, there
    return Beside(a, b, bool(report), found, counted, items)


def key_of(one: Mapping[str, Any]) -> Key:
    return one["measure"], slice_of(one["slice"])


def _turned(one: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**one, "difference": _minus(one["difference"]), "low": _minus(one["high"]), "high": _minus(one["low"])}


def _minus(value: float | None) -> float | None:
    return None if value is None else 0.0 - value
