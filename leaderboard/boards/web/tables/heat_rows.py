"""Cells of heat tables: a value with its shade and whether it is the best of its column, or why it is missing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.http import HttpRequest

from evaluator.measures.base import Measure
from leaderboard.boards.queries import NO_SCORE, Row, ShownScore, Slice
from leaderboard.boards.web.charts.heat import fitted, shade
from leaderboard.boards.web.tables.sorting import Key

BOARD_SCALE = "board"
NOT_SCORED = "not scored"
NOT_SHOWN = "not shown, because no better by a step"
NO_UNIT = "no gold units"


@dataclass(frozen=True, slots=True)
class Source:
    """The measure and slice of a column."""

    measure: Measure
    slice: Slice

    def score(self, row: Row) -> ShownScore:
        return row.score(self.measure.name, self.slice)

    @property
    def best_first(self) -> bool:
        return self.measure.higher_is_better is not False

    @property
    def key(self) -> Key:
        """A sort key for this column, best values first."""
        return Key(lambda row: self.score(row).value, self.best_first)

    def best(self, rows: Sequence[Row]) -> float | None:
        """Return the best value of the column among competing systems, or among all systems if none competes.

        None if no system has a value, or if the measure has no better direction.
        """
        if self.measure.higher_is_better is None:
            return None
        competing = [row for row in rows if row.competes] or rows
        values = [value for row in competing if (value := self.score(row).value) is not None]
        return (max if self.best_first else min)(values, default=None)


def on_scale(request: HttpRequest, measure: Measure, rows: Sequence[Row], slices: Iterable[Slice]) -> Measure:
    """Return the measure with the bounds of its colour scale.

    These are the measure's own, or with `?scale=board` the range of the rows' scores on the slices.
    """
    if request.GET.get("scale") != BOARD_SCALE:
        return measure
    slices = list(slices)
    return fitted(measure, (row.score(measure.name, slice_).value for row in rows for slice_ in slices))


@dataclass(frozen=True, slots=True)
class HeatCell:
    """One cell of a heat table.

    shade: CSS class of the background; empty: none. best: True if no competing system has a better value in the column.
    reason: why the value is missing; empty: it is not missing.
    """

    score: ShownScore
    shade: str
    best: bool
    reason: str


def heat_rows(
    rows: Sequence[Row], sources: Sequence[Source], shown: Sequence[Row] | None = None
) -> list[list[HeatCell]]:
    """Return one list of cells per row of `shown` (None: all of `rows`), in the order of `sources`.

    The best of a column is determined among all of `rows`.
    """
    shown = rows if shown is None else shown
    columns = [_column(rows, source, shown) for source in sources]
    return [list(cells) for cells in zip(*columns, strict=True)] if columns else [[] for _ in shown]


def competitor_phrase(rows: Sequence[Row]) -> str:
    """Return a phrase for the systems among which the best value is determined; empty if these are all systems."""
    competing = sum(row.competes for row in rows)
    return "among competing systems" if 0 < competing < len(rows) else ""


def _column(rows: Sequence[Row], source: Source, shown: Sequence[Row]) -> list[HeatCell]:
    best = source.best(rows)
    competing = any(row.competes for row in rows)
    scores = [source.score(row) for row in shown]
    any_score = next((score for row in rows if (score := source.score(row)) is not NO_SCORE), None)
    return [
        HeatCell(
            score,
            shade(score.value, source.measure),
            best is not None and score.value == best and (row.competes or not competing),
            _reason(score, source.measure, any_score),
        )
        for row, score in zip(shown, scores, strict=True)
    ]


def _reason(score: ShownScore, measure: Measure, any_score: ShownScore | None) -> str:
    """Return why a cell has no value; empty if it has a value.

    any_score: a score of some system in this column; None: no system has one, so the gold has no unit on the slice.
    """
    if score.value is not None:
        return ""
    if score is NO_SCORE and any_score is not None:
        return NOT_SCORED if any_score.bounds is None else NOT_SHOWN
    return measure.none_where if score.n else NO_UNIT


def reasons(rows: Iterable[Iterable[HeatCell]]) -> list[str]:
    """Return the distinct reasons for missing values in a table, in order of first occurrence."""
    return list(dict.fromkeys(heat.reason for cells in rows for heat in cells if heat.reason))
