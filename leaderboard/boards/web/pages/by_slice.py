"""Page of the board by one dimension: systems' scores on each value of the dimension, for one or more measures."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluator.measures.base import Measure
from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import WHOLE, Board, Slice, SliceValue
from leaderboard.boards.queries.lookup import board_or_404, dimension_or_404
from leaderboard.boards.queries.reported_results import reported_of
from leaderboard.boards.web.charts.heat import legends
from leaderboard.boards.web.etag import with_etag
from leaderboard.boards.web.tables.heat_rows import Source, competitor_phrase, on_scale
from leaderboard.boards.web.tables.pages import TablePage
from leaderboard.boards.web.tables.pivot import Planned, page_context, pivot, requested, sorted_by, with_units
from leaderboard.boards.web.tables.reported_grid import reported_grid

MAX_HORIZONTAL_HEADINGS = 8
"""Largest number of columns with horizontal headings; with more columns, headings are vertical."""
MAX_TOOLTIPS = 4000
"""Largest number of cells that have tooltips with their intervals, which are half of the bytes of a large page."""
ALL = "all"
FEW = 4
"""Maximum number of values of a dimension whose page shows all measures by default."""
MOST = 60
"""Maximum number of columns of a readable table."""


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
    offered = board.measures_on([dimension])
    measure, has_all = _requested_measure(request, board, dimension, offered)
    declared = TASKS[board.phase.benchmark.task].dimensions
    context = page_context(board) | {
        "dimension": dimension,
        "about": next((known.doc for known in declared if known.name == dimension), ""),
        "measure": measure,
        "measures": offered,
        "has_all": has_all,
        "among": competitor_phrase(board.rows),
    }
    context |= _reported(board, dimension, measure or (offered[0] if offered else None))
    if measure is not None:
        context |= _one_measure(request, board, dimension, measure)
    elif offered:
        context |= _all_measures(request, board, dimension, offered)
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
    n_values = len(board.dimensions[dimension])
    # Each measure has a column for each value, and one overall.
    has_all = len(offered) > 1 and (n_values + 1) * len(offered) <= MOST
    name = request.GET.get("measure")
    if has_all and (name == ALL or n_values <= FEW) and all(measure.name != name for measure in offered):
        return None, has_all
    return requested(request, offered), has_all


def _one_measure(request: HttpRequest, board: Board, dimension: str, measure: Measure) -> dict[str, object]:
    values, empty = with_units(board.values(dimension, measure.name))
    measure = on_scale(request, measure, board.rows, [WHOLE, *(value.slice for value in values)])
    planned = _planned(board, measure, values)
    cut = TablePage.from_request(request, len(board.rows))
    sorting = sorted_by(request, planned, "micro")
    rows = sorting.apply(board.rows)
    table = pivot(rows, [("", planned)], sorting.headings, cut)
    index = next((i for i, column in enumerate(planned) if column.key == sorting.key), 0)
    _, shown = table.detail(0)
    scores = [(row, cells[index].score) for row, cells in shown]
    return {
        "cut": cut,
        "table": table,
        "empty_values": empty,
        "has_tooltips": not table.has_intervals or len(table.rows) * len(planned) <= MAX_TOOLTIPS,
        "is_tall": len(values) > MAX_HORIZONTAL_HEADINGS,
        "detail": (table.columns[index], scores),
        "n_varies": any(score.n != planned[index].n for _, score in scores),
        "legends": legends([measure]),
    }


def _planned(board: Board, measure: Measure, values: Sequence[SliceValue]) -> list[Planned]:
    """Return the columns of a measure: micro, macro if it exists, then the dimension's values."""
    macro = board.measure(f"macro_{measure.name}")
    planned = [Planned("micro", "All (micro)" if macro else "All", Source(measure, WHOLE), board.n(measure.name))]
    if macro:
        on_same_scale = replace(macro, low=measure.low, high=measure.high)
        planned.append(Planned("macro", "Macro", Source(on_same_scale, WHOLE), board.n(macro.name)))
    # The prefix distinguishes a value called "micro" or "system" from those keys.
    planned += [Planned(f"is {value.value}", value.value, Source(measure, value.slice), value.n) for value in values]
    return list({column.key: column for column in planned}.values())


def _all_measures(request: HttpRequest, board: Board, dimension: str, offered: Sequence[Measure]) -> dict[str, object]:
    """Return the template context of the table of all measures `offered`: those with scores by the dimension."""

    def n_of(value: SliceValue) -> int:
        return max(board.n(measure.name, value.slice) or 0 for measure in offered)

    def planned(value: str | None, slice_: Slice) -> list[Planned]:
        return [
            Planned(
                json.dumps([measure.name, value], ensure_ascii=False),
                measure.title,
                Source(measure, slice_),
                board.n(measure.name, slice_),
            )
            for measure in on_its_scale
        ]

    values, empty = with_units([replace(value, n=n_of(value)) for value in board.values(dimension, offered[0].name)])
    by_value: Mapping[str, Slice] = {value.value: value.slice for value in values}
    on_its_scale = [on_scale(request, measure, board.rows, [WHOLE, *by_value.values()]) for measure in offered]
    plan = [("All", planned(None, WHOLE)), *((value, planned(value, slice_)) for value, slice_ in by_value.items())]
    cut = TablePage.from_request(request, len(board.rows))
    sorting = sorted_by(request, [column for _, group in plan for column in group], plan[0][1][0].key)
    table = pivot(sorting.apply(board.rows), plan, sorting.headings, cut)
    selected = next((i for i, (_, group) in enumerate(plan) if any(c.key == sorting.key for c in group)), 0)
    return {
        "cut": cut,
        "table": table,
        "empty_values": empty,
        "detail": table.detail(selected),
        "legends": legends(on_its_scale),
    }
