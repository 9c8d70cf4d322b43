"""Results reported in papers: rows shown with a board, never ranked."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import structlog

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import Key, slice_of
from leaderboard.models import Benchmark, ReportedResult
from leaderboard.models.reported_numbers import Value

log = structlog.get_logger(__name__)
NO_NUMBERS = (ValueError, RecursionError)
"""Raised when numbers are checked or read: JSON may have more digits or nesting than Python can read."""


@dataclass(frozen=True)
class ReportedRow:
    """A row copied from a paper. values: score column -> (value, None for a dash in the paper; value as printed)."""

    system: str
    paper: str
    table: str
    split: str
    same_split: bool
    track: str
    note: str
    values: Mapping[Key, tuple[float | None, str]]


@dataclass(frozen=True)
class Reported:
    """Reported rows of a benchmark, never ranked, with the columns that they fill."""

    columns: Sequence[Key]
    rows: Sequence[ReportedRow]

    @property
    def table(self) -> list[tuple[ReportedRow, list[str]]]:
        """Each reported row with its numbers as printed, in the order of the columns; "" for a missing number."""
        return [(row, [row.values.get(key, (None, ""))[1] for key in self.columns]) for row in self.rows]

    def on(self, *dimensions: str) -> Reported:
        """Return a copy of the reported results with only the columns on slices by exactly these dimensions.

        Rows without a value in these columns are left out.
        """
        names = tuple(sorted(dimensions))
        columns = [key for key in self.columns if tuple(name for name, _ in key[1]) == names]
        return Reported(columns, [row for row in self.rows if any(key in row.values for key in columns)])

    def in_track(self, track: str) -> Reported:
        """Return a copy of the results with only the rows of one track, and the columns in which these have a value."""
        rows = [row for row in self.rows if row.track == track]
        return Reported([key for key in self.columns if any(key in row.values for row in rows)], rows)


@dataclass(frozen=True)
class LeftOut:
    """A stored row that is not shown because its numbers are invalid, with the reason."""

    row: ReportedResult
    reason: str


def reported_of(benchmark: Benchmark) -> Reported:
    """Return a benchmark's reported rows, in one query, without those whose numbers are invalid."""
    rows = [_reported(row, values) for row, values in valid_results(benchmark)]
    columns = list(dict.fromkeys(key for row in rows for key in row.values))
    order = {measure.name: index for index, measure in enumerate(TASKS[benchmark.task].measures)}
    columns.sort(key=lambda key: (len(key[1]), order.get(key[0], len(order))))
    return Reported(columns, rows)


def valid_results(benchmark: Benchmark) -> Iterator[tuple[ReportedResult, list[Value]]]:
    """Yield (reported result, its numbers) of a benchmark; results with invalid numbers are logged and left out."""
    for row in _stored(benchmark):
        try:
            yield row, row.numbers(task=benchmark.task)
        except NO_NUMBERS as error:
            _log(row.pk, benchmark.slug, str(error)[:200])


def left_out(benchmark: Benchmark) -> list[LeftOut]:
    """Return a benchmark's reported results with invalid numbers, each with its problem.

    No board shows these results; organisers and the operator see this list instead.
    """
    invalid = []
    for row in _stored(benchmark):
        try:
            row.numbers(task=benchmark.task)
        except NO_NUMBERS as error:
            invalid.append(LeftOut(row, str(error)))
    return invalid


def _stored(benchmark: Benchmark) -> Iterable[ReportedResult]:
    """Return a benchmark's reported results, read in one query.

    If the JSON of some row cannot be read, return rows that load their numbers one by one.
    """
    try:
        return list(benchmark.reported_results.all())
    except NO_NUMBERS:
        return benchmark.reported_results.defer("values")


@functools.lru_cache(maxsize=1000)
def _log(pk: int, benchmark: str, problem: str) -> None:
    """Log that the numbers of a reported result are invalid: once per process, because pages are read often."""
    log.error("reported_row_skipped", row=pk, benchmark=benchmark, fault=problem)


def _reported(result: ReportedResult, values: Iterable[Value]) -> ReportedRow:
    return ReportedRow(
        system=result.system,
        paper=result.paper,
        table=result.table,
        split=result.split,
        same_split=result.same_split,
        track=result.track,
        note=result.note,
        values={(value.measure, slice_of(value.slice)): (value.value, value.shown) for value in values},
    )
