"""Page of the board by one dimension: systems' scores on each value of the dimension, for one or more measures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluator.measures.base import Measure
from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import WHOLE, Board, SliceValue
from leaderboard.boards.queries.lookup import board_or_404, dimension_or_404
from leaderboard.boards.queries.reported_results import reported_of
from leaderboard.boards.web.board_links import other_boards
from leaderboard.boards.web.charts.heat import legends
from leaderboard.boards.web.etag import with_etag
from leaderboard.boards.web.pages.measures_by_slice import fits, is_first_choice, measures_table, with_units
from leaderboard.boards.web.tables.heat_rows import Source, competitor_phrase, heat_rows, on_scale, reasons
from leaderboard.boards.web.tables.pages import TablePage
from leaderboard.boards.web.tables.reported_grid import reported_grid
from leaderboard.boards.web.tables.sorting import Heading, Key, Sorting, by_name

MAX_HORIZONTAL_HEADINGS = 8
"""Largest number of columns with horizontal headings; with more columns, headings are vertical."""
MAX_TOOLTIPS = 4000
"""Largest number of cells that have tooltips with their intervals, which are half of the bytes of a large page."""
ALL = "all"


@dataclass(frozen=True)
class Column:
    """Column of the table: a value of the dimension, or a summary over all of its values."""

    title: str
    n: int | None
    source: Source
    heading: Heading

    @property
    def is_summary(self) -> bool:
        return not self.source.slice


@require_safe
@with_etag
def board_by_slice(request: HttpRequest, slug: str, phase: str, dimension: str, **version: Any) -> HttpResponse:
    """Render the board by one dimension: each system's scores on the values of the dimension.

    `?measure=`: a measure that exists on the slices, or `all`. Default: all measures if the dimension has few values,
    else the first measure that exists on the slices.
    `?sort=`: `system`, `micro` (score on all units), `macro` (mean over the values), or `is VALUE` for a value of the
    dimension; with several measures, a JSON list of measure and value. The column that the table is sorted by is shown
    below with intervals. `?scale=board`: colours over the range of the shown scores. `?page=`: page of 150 systems.
    """
    board = board_or_404(request.user, slug, phase, within=[dimension], **version)
    dimension = dimension_or_404(board, dimension)
    task = TASKS[board.phase.benchmark.task]
    offered = board.measures_on([dimension])
    measure, has_all = _requested_measure(request, board, dimension, offered)
    context = {
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "task": task,
        "dimension": dimension,
        "about": next((known.doc for known in task.dimensions if known.name == dimension), ""),
        "measure": measure,
        "measures": offered,
        "has_all": has_all,
        "among": competitor_phrase(board.rows),
        "boards": other_boards(board),
    }
    context |= _reported(board, dimension, measure or (offered[0] if offered else None))
    if measure is not None:
        context |= _table(request, board, dimension, measure)
    elif offered:
        context |= measures_table(request, board, dimension, offered)
    return render(request, "boards/by_slice.html", context)


def _reported(board: Board, dimension: str, measure: Measure | None) -> dict[str, object]:
    """Return the template context of the results that papers report on this dimension.

    `reported`: results by this dimension alone. `reported_grids`: for each other dimension that papers cross with this
    one, a table of `measure`; empty if `measure` is None.
    """
    reported = reported_of(board.phase.benchmark)
    pairs = dict.fromkeys(
        (other, dimension)
        for _, slice_ in reported.columns
        if len(slice_) == 2 and dimension in dict(slice_)
        for other, _ in slice_
        if other != dimension
    )
    grids = [(pair, reported_grid(reported, pair, measure)) for pair in pairs if measure is not None]
    return {"reported": reported.on(dimension), "reported_grids": grids}


def _requested_measure(
    request: HttpRequest, board: Board, dimension: str, offered: Sequence[Measure]
) -> tuple[Measure | None, bool]:
    """Return (measure to show, whether the page can show all measures); measure None: show all, or there are none.

    offered: the measures with scores on the dimension's slices.
    """
    has_all = fits(board, dimension, offered)
    requested = request.GET.get("measure")
    named = next((measure for measure in offered if measure.name == requested), None)
    if named is None and has_all and (requested == ALL or is_first_choice(board, dimension)):
        return None, has_all
    return named or (offered[0] if offered else None), has_all


def _table(request: HttpRequest, board: Board, dimension: str, measure: Measure) -> dict[str, object]:
    values, empty = with_units(board.values(dimension, measure.name))
    measure = on_scale(request, measure, board.rows, [WHOLE, *(value.slice for value in values)])
    planned = _planned(board, measure, values)
    keys = {key: source.key for key, (_, source, _) in planned.items()}
    keys |= {"system": Key(by_name, best_first=False)}
    sorting = Sorting.from_request(request, keys, "micro")
    rows = sorting.apply(board.rows)
    headings = sorting.headings
    columns = [Column(title, n, source, headings[key]) for key, (title, source, n) in planned.items()]
    cut = TablePage.from_request(request, len(rows))
    page_rows = cut.of(rows)
    cells = heat_rows(rows, [column.source for column in columns], page_rows)
    shown = list(zip(page_rows, cells, strict=True))
    detail = next((i for i, column in enumerate(columns) if column.heading.key == sorting.key), 0)
    # The Ladder reveals no intervals, and some custom scorers return none.
    has_intervals = any(column.source.score(row).low is not None for row in rows for column in columns)
    scores = [line[detail].score for line in cells]
    return {
        "cut": cut,
        "columns": columns,
        "empty_values": empty,
        "has_tooltips": not has_intervals or len(page_rows) * len(columns) <= MAX_TOOLTIPS,
        "is_tall": len(values) > MAX_HORIZONTAL_HEADINGS,
        "headings": headings,
        "rows": shown,
        "detail": (columns[detail], list(zip(page_rows, scores, strict=True))),
        "n_varies": any(score.n != columns[detail].n for score in scores),
        "has_intervals": has_intervals,
        "legends": legends([measure]),
        "reasons": reasons(cells),
    }


def _planned(board: Board, measure: Measure, values: Sequence[SliceValue]) -> dict[str, tuple[str, Source, int | None]]:
    """Return (title, source, n) of each column by sort key: micro, macro if it exists, then the dimension's values."""
    macro = board.measure(f"macro_{measure.name}")
    planned = {"micro": ("All (micro)" if macro else "All", Source(measure, WHOLE), board.n(measure.name))}
    if macro:
        on_same_scale = replace(macro, low=measure.low, high=measure.high)
        planned["macro"] = ("Macro", Source(on_same_scale, WHOLE), board.n(macro.name))
    for value in values:
        # The prefix distinguishes a value called "micro" or "system" from those keys.
        planned[f"is {value.value}"] = (value.value, Source(measure, value.slice), value.n)
    return planned
