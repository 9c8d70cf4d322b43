"""The board of one dimension: systems by values, one measure at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import conditional_page, require_safe

from evaluator.measures import Measure
from evaluator.task import TASKS
from leaderboard.standings import WHOLE, Board, Cell, Row, Slice, SliceValue
from leaderboard.web.charts.heat import LEVELS, level
from leaderboard.web.public.access import board_or_404, dimension_or_404
from leaderboard.web.public.boards import other_boards
from leaderboard.web.sorting import Heading, Key, Sorting, by_name

UPRIGHT = 8
"""With more columns than this their headings stand on end."""


@dataclass(frozen=True)
class HeatCell:
    """A cell with its shade. `best`: no competing system has a better value in this column."""

    cell: Cell
    level: int | None
    best: bool


@dataclass(frozen=True)
class Column:
    """A value of the dimension, or a summary of all of them."""

    title: str
    n: int | None
    measure: str
    slice: Slice
    heading: Heading
    is_summary: bool


@require_safe
@conditional_page
def board_by_slice(request: HttpRequest, slug: str, phase: str, dimension: str) -> HttpResponse:
    """`?measure=` one that exists on the slices; `?sort=` a value of the dimension, micro, macro or system."""
    board = board_or_404(request, slug, phase, within=[dimension])
    dimension = dimension_or_404(board, dimension)
    offered = board.sliced_measures[dimension]
    measure = next((m for m in offered if m.name == request.GET.get("measure")), offered[0] if offered else None)
    context = {
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "task": TASKS[board.phase.benchmark.task],
        "dimension": dimension,
        "measure": measure,
        "measures": offered,
        "boards": other_boards(board),
        "levels": range(LEVELS + 1),
    }
    if measure is not None:
        context |= _table(request, board, dimension, measure)
    return render(request, "public/by_slice.html", context)


def _table(request: HttpRequest, board: Board, dimension: str, measure: Measure) -> dict[str, object]:
    values = board.values(dimension, measure.name)
    sources = _sources(board, measure, values)
    best_first = measure.higher_is_better is not False
    keys = {key: _key(name, slice_, best_first) for key, (_, name, slice_, _) in sources.items()}
    keys |= {"system": Key(by_name, best_first=False)}
    sorting = Sorting.asked(request, keys, "micro")
    rows = sorting.apply(board.rows)
    columns = [
        Column(title, n, name, slice_, sorting.headings[key], not slice_)
        for key, (title, name, slice_, n) in sources.items()
    ]
    best = [_best(rows, column, best_first) for column in columns]
    return {
        "columns": columns,
        "is_tall": len(columns) > UPRIGHT,
        "headings": sorting.headings,
        "rows": [(row, _cells(row, columns, best, measure)) for row in rows],
        "details": [(column, [(row, row.cell(column.measure, column.slice)) for row in rows]) for column in columns],
    }


def _sources(
    board: Board, measure: Measure, values: Sequence[SliceValue]
) -> dict[str, tuple[str, str, Slice, int | None]]:
    """Sort key -> title, measure, slice and n of each column: micro, macro where it exists, then the values."""
    sources = {"micro": ("all (micro)", measure.name, WHOLE, board.n(measure.name))}
    macro = f"macro_{measure.name}"
    if board.measure(macro):
        sources["macro"] = ("macro", macro, WHOLE, board.n(macro))
    else:
        sources["micro"] = ("all", *sources["micro"][1:])
    for value in values:
        # The prefix keeps a value called "micro" or "system" apart from those keys.
        sources[f"is {value.value}"] = (value.value, measure.name, value.slice, value.n)
    return sources


def _key(measure: str, slice_: Slice, best_first: bool) -> Key:
    return Key(lambda row: row.cell(measure, slice_).value, best_first)


def _best(rows: Sequence[Row], column: Column, best_first: bool) -> float | None:
    known = [row.cell(column.measure, column.slice).value for row in rows if row.competes]
    values = [value for value in known if value is not None]
    return (max if best_first else min)(values, default=None)


def _cells(row: Row, columns: Sequence[Column], best: Sequence[float | None], measure: Measure) -> list[HeatCell]:
    cells = [row.cell(column.measure, column.slice) for column in columns]
    return [
        HeatCell(cell, level(cell.value, measure), row.competes and cell.value is not None and cell.value == top)
        for cell, top in zip(cells, best, strict=True)
    ]
