"""Head-to-head comparison of two systems, limited to what their phase reveals."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaluator.statistics.holm import ALPHA, holm
from leaderboard.boards.disclosure.policies import reveals_comparisons, reveals_counts, reveals_items
from leaderboard.boards.queries import WHOLE, Key, Row, ShownScore, Slice, slice_of
from leaderboard.models import HeadToHead, Phase


@dataclass(frozen=True)
class Counts:
    """Numbers of gold units that both systems have right, that only a, only b, or neither has right."""

    both: int
    a_only: int
    b_only: int
    neither: int


@dataclass(frozen=True)
class Line:
    """One measure on one slice: both systems' scores, and their difference a - b. None: not computed or undefined.

    low, high: ends of the difference's confidence interval. p: p-value for this line alone. p_holm: p, Holm-corrected
    for all lines of its table.
    """

    title: str
    slice: Slice
    a: ShownScore
    b: ShownScore
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
    """A public gold unit: its id as JSON, and its line of the gold file."""

    id: str
    line: str


@dataclass(frozen=True)
class HeadToHeadTable:
    """A comparison of two systems a and b, in the order in which the viewer named them.

    computed: True if differences are stored and revealed; if not, the three mappings are empty. differences, counted:
    by measure and slice. items: by measure, units that only a has right, and units that only b has right.
    """

    a: Row
    b: Row
    computed: bool
    differences: Mapping[Key, Mapping[str, Any]]
    counted: Mapping[Key, Counts]
    items: Mapping[str, tuple[Sequence[Item], Sequence[Item]]]

    def line(self, title: str, measure: str, slice_: Slice = WHOLE) -> Line:
        key = (measure, slice_)
        numbers = self.differences.get(key, {})
        return Line(
            title,
            slice_,
            self.a.score(measure, slice_),
            self.b.score(measure, slice_),
            difference=numbers.get("difference"),
            low=numbers.get("low"),
            high=numbers.get("high"),
            p=numbers.get("p"),
            counts=self.counted.get(key),
        )

    def lines(self, columns: Sequence[tuple[str, str, Slice]]) -> list[Line]:
        """Return lines for (title, measure, slice) triples, with p-values Holm-corrected as one family."""
        lines = [self.line(*triple) for triple in columns]
        adjusted = holm([np.nan if line.p is None else line.p for line in lines])
        return [
            line if line.p is None else replace(line, p_holm=float(p_holm))
            for line, p_holm in zip(lines, adjusted, strict=True)
        ]


def head_to_head_table(phase: Phase, a: Row, b: Row, stored: HeadToHead | None) -> HeadToHeadTable:
    """Return the part of the comparison of two systems that the phase reveals.

    a, b: the systems' rows on the board. stored: the finished comparison in the database; None: it is not computed.
    """
    report = stored.report if stored is not None and reveals_comparisons(phase) else {}
    is_reversed = stored is not None and stored.a_id != a.run_id
    comparisons = {slice_key(row): _reversed(row) if is_reversed else row for row in report.get("comparisons", ())}
    counted: dict[Key, Counts] = {}
    items: dict[str, tuple[Sequence[Item], Sequence[Item]]] = {}
    sides = ("b_only", "a_only") if is_reversed else ("a_only", "b_only")
    if reveals_counts(phase):
        for row in report.get("counts", ()):
            counted[slice_key(row)] = Counts(row["both"], row[sides[0]], row[sides[1]], row["neither"])
    if reveals_items(phase):
        for row in report.get("items", ()):
            a_items, b_items = ([Item(json.dumps(id_), line) for id_, line in row[side]] for side in sides)
            items[row["measure"]] = a_items, b_items
    return HeadToHeadTable(a, b, bool(report), comparisons, counted, items)


def slice_key(one: Mapping[str, Any]) -> Key:
    return one["measure"], slice_of(one["slice"])


def _reversed(row: Mapping[str, Any]) -> Mapping[str, Any]:
    return {
        **row,
        "difference": _negated(row["difference"]),
        "low": _negated(row["high"]),
        "high": _negated(row["low"]),
    }


def _negated(value: float | None) -> float | None:
    return None if value is None else 0.0 - value
