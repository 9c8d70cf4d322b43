"""Head-to-head comparison of two systems, limited to what their phase reveals."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaluator.statistics.holm import ALPHA, holm
from leaderboard.boards.disclosure.policies import (
    is_detailed,
    reveal_counts,
    reveal_difference,
    reveal_p,
    reveals_comparisons,
    reveals_counts,
    reveals_items,
)
from leaderboard.boards.queries import WHOLE, Board, Key, Row, ShownScore, Slice, slice_of
from leaderboard.boards.queries.rows import DECIMALS
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
    for all lines of its table. decimals: with how many the difference and its interval are written.
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
    decimals: int = DECIMALS

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
    by measure and slice, as they are shown but for the p-values, which lines round. items: by measure, units that only
    a has right, and units that only b has right.
    """

    phase: Phase
    a: Row
    b: Row
    computed: bool
    differences: Mapping[Key, Mapping[str, Any]]
    counted: Mapping[Key, Counts]
    items: Mapping[str, tuple[Sequence[Item], Sequence[Item]]]

    def line(self, title: str, measure: str, slice_: Slice = WHOLE) -> Line:
        return self._shown(self._exact(title, measure, slice_))

    def _shown(self, line: Line) -> Line:
        p, p_holm = (reveal_p(self.phase, each, difference=line.difference) for each in (line.p, line.p_holm))
        return replace(line, p=p, p_holm=p_holm)

    def _exact(self, title: str, measure: str, slice_: Slice) -> Line:
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
            decimals=numbers.get("decimals", DECIMALS),
        )

    def lines(self, columns: Sequence[tuple[str, str, Slice]]) -> list[Line]:
        """Return lines for (title, measure, slice) triples, with p-values Holm-corrected as one family."""
        lines = [self._exact(*triple) for triple in columns]
        adjusted = holm([np.nan if line.p is None else line.p for line in lines])
        return [
            line if line.p is None else self._shown(replace(line, p_holm=float(p_holm)))
            for line, p_holm in zip(lines, adjusted, strict=True)
        ]


def head_to_head_table(board: Board, a: Row, b: Row, stored: HeadToHead | None) -> HeadToHeadTable:
    """Return the part of the comparison of two systems that the phase reveals.

    a, b: the systems' rows on the board. stored: the finished comparison in the database; None: it is not computed.
    """
    phase = board.phase
    report = stored.report if stored is not None and shows_differences(board, a, b) else {}
    is_reversed = stored is not None and stored.a_id != a.run_id
    comparisons = {slice_key(row): _reversed(row) if is_reversed else row for row in report.get("comparisons", ())}
    measures = {measure.name: measure for measure in board.measures}
    differences = {
        key: reveal_difference(
            phase=phase,
            numbers=numbers,
            measure=measures[key[0]],
            n_groups=numbers["n_groups"],
            values=(numbers["a"], numbers["b"]),
        )
        for key, numbers in comparisons.items()
        if key[0] in measures
    }
    counted: dict[Key, Counts] = {}
    items: dict[str, tuple[Sequence[Item], Sequence[Item]]] = {}
    sides = ("b_only", "a_only") if is_reversed else ("a_only", "b_only")
    if reveals_counts(phase):
        for row in report.get("counts", ()):
            key = slice_key(row)
            kinds = {name: row[name] for name in ("both", "a_only", "b_only", "neither")}
            n_groups = comparisons[key]["n_groups"]
            shown = reveal_counts(phase=phase, counts=kinds, n_groups=n_groups, is_slice=bool(row["slice"]))
            counted[key] = Counts(shown["both"], shown[sides[0]], shown[sides[1]], shown["neither"])
    if reveals_items(phase):
        for row in report.get("items", ()):
            a_items, b_items = ([Item(json.dumps(id_), line) for id_, line in row[side]] for side in sides)
            items[row["measure"]] = a_items, b_items
    return HeadToHeadTable(phase, a, b, bool(report), differences, counted, items)


def shows_differences(board: Board, a: Row, b: Row) -> bool:
    """Return True if the phase shows differences, and both systems' answers in detail."""
    scores = (row.score(board.primary) for row in (a, b))
    return reveals_comparisons(board.phase) and all(is_detailed(board.phase, score) for score in scores)


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
