"""The read side of what papers report: rows beside a board, never ranked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evaluator.task import TASKS
from leaderboard.models import Benchmark, ReportedResult
from leaderboard.prepared import Prepared
from leaderboard.standings import Key, slice_of

OF_A_BENCHMARK = Prepared(lambda benchmark: ReportedResult.objects.filter(benchmark=benchmark), int)


@dataclass(frozen=True)
class ReportedRow:
    """A row copied from a paper; `cells` has the value as a number and as the paper prints it."""

    system: str
    paper: str
    table: str
    split: str
    same_split: bool
    track: str
    note: str
    cells: Mapping[Key, tuple[float | None, str]]


@dataclass(frozen=True)
class Reported:
    """All reported rows of a benchmark, never ranked, with the columns that they fill."""

    columns: Sequence[Key]
    rows: Sequence[ReportedRow]

    @property
    def table(self) -> list[tuple[ReportedRow, list[str]]]:
        """Each row with its numbers as printed, in the order of the columns; empty where it has none."""
        return [(row, [row.cells.get(key, (None, ""))[1] for key in self.columns]) for row in self.rows]

    def on(self, *dimensions: str) -> Reported:
        """What papers report on slices by exactly these dimensions."""
        wanted = tuple(sorted(dimensions))
        columns = [key for key in self.columns if tuple(name for name, _ in key[1]) == wanted]
        return Reported(columns, [row for row in self.rows if any(key in row.cells for key in columns)])

    def in_track(self, track: str) -> Reported:
        """What papers report of one track."""
        rows = [row for row in self.rows if row.track == track]
        return Reported([key for key in self.columns if any(key in row.cells for row in rows)], rows)


def reported_of(benchmark: Benchmark) -> Reported:
    """A benchmark's reported rows in one query."""
    rows = [_reported(result) for result in OF_A_BENCHMARK(benchmark.pk)]
    columns = list(dict.fromkeys(key for row in rows for key in row.cells))
    order = {measure.name: place for place, measure in enumerate(TASKS[benchmark.task].measures)}
    columns.sort(key=lambda key: (len(key[1]), order.get(key[0], len(order))))
    return Reported(columns, rows)


def _reported(result: ReportedResult) -> ReportedRow:
    return ReportedRow(
        system=result.system,
        paper=result.paper,
        table=result.table,
        split=result.split,
        same_split=result.same_split,
        track=result.track,
        note=result.note,
        cells={
            (value["measure"], slice_of(value.get("slice", {}))): (
                value["value"],
                value.get("shown") or str(value["value"]),
            )
            for value in result.values
        },
    )
