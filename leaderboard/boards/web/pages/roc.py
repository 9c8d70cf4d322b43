"""ROC curves of a board's systems over one another, on the whole or on one slice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import conditional_page, require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import WHOLE, Board, Row, Slice, by_primary
from leaderboard.boards.queries.lookup import board_or_404
from leaderboard.boards.queries.plots import drawn_of, known, slice_key, slice_named, tells_drawings, with_drawings
from leaderboard.boards.web import svg_csv_download
from leaderboard.boards.web.board_links import other_boards
from leaderboard.boards.web.charts.roc import KEY, MOST, READ_AT, SIZE, Line, roc_chart
from leaderboard.boards.web.plot_links import as_json, separating

FIRST = 5
"""Curves that are drawn where the address names none."""
HEADS = ("system", "team", "slice", "false_positive_rate", "true_positive_rate")


@dataclass(frozen=True)
class Choice:
    """One system of the form. key: of the address."""

    row: Row
    is_chosen: bool
    is_drawn: bool

    @property
    def key(self) -> str:
        return str(self.row.system_id)


@require_safe
@conditional_page
def roc(request: HttpRequest, slug: str, phase: str, **version: int) -> HttpResponse:
    """`?system=` up to MOST times; `?slice=` as JSON; `?download=svg` or `csv`. 404 where scores are not separated."""
    slice_ = slice_named(request.GET.get("slice"))
    board = board_or_404(request.user, slug, phase, within=[name for name, _ in slice_], **version)
    measure = separating(board)
    if measure is None:
        raise Http404("no curves")
    slice_ = known(board, slice_)
    there = with_drawings(board)
    rows = by_primary(board)
    asked = _asked(request, rows)
    chosen = asked[:MOST] if asked else [row for row in rows if row.run_id in there][:FIRST]
    told = drawn_of(board, chosen)
    curves = [
        (row, row.cell(measure.name, slice_), told[row.run_id].curves[slice_])
        for row in chosen
        if row.run_id in told and slice_ in told[row.run_id].curves
    ]
    curves.sort(key=lambda one: -(one[1].value or 0.0))
    chart = roc_chart(curves)
    context: dict[str, Any] = {"chart": chart, "measure": measure, "slice": slice_}
    wanted = request.GET.get("download")
    if wanted == "csv":
        return svg_csv_download.as_csv(board, "roc", HEADS, _table(chart.lines if chart else (), slice_))
    if wanted == "svg" and chart is not None:
        height = chart.lines[-1].key_y + KEY
        return svg_csv_download.as_svg(
            board,
            "roc",
            "boards/charts/roc_alone.svg",
            context,
            height=height,
            frame="boards/charts/plot.svg",
            width=SIZE + 90,
        )
    context |= {
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "task": TASKS[board.phase.benchmark.task],
        "boards": other_boards(board),
        "tells": tells_drawings(board),
        "json": as_json(board),
        "rows": rows,
        "choices": [Choice(row, row in chosen, row.run_id in there) for row in rows],
        "slices": _slices(board, [slice_ for one in told.values() for slice_ in one.curves]),
        "chosen_slice": slice_key(slice_),
        "without": [row for row in chosen if row.run_id not in {one[0].run_id for one in curves}],
        "before": [row for row in rows if row.run_id not in there],
        "n_too_many": max(0, len(asked) - MOST),
        "most": MOST,
        "read_at": READ_AT,
    }
    return render(request, "boards/roc.html", context)


def _asked(request: HttpRequest, rows: Sequence[Row]) -> list[Row]:
    """The systems that the address names, best first. Raises Http404."""
    names = set(request.GET.getlist("system"))
    found = [row for row in rows if str(row.system_id) in names]
    if len(found) < len(names):
        raise Http404("no such system on this board")
    return found


def _slices(board: Board, there: Sequence[Slice]) -> list[tuple[str, list[tuple[str, str]]]]:
    """By dimension (key in the address, value) of those that somebody's curve is on."""
    found = []
    for name, values in board.dimensions.items():
        curved = [(slice_key(((name, value),)), value) for value in values if ((name, value),) in there]
        if curved:
            found.append((name, curved))
    return found


def _table(lines: Sequence[Line], slice_: Slice) -> list[Sequence[object]]:
    where = "all" if slice_ == WHOLE else "=".join(slice_[0])
    return [
        (line.row.system, line.row.team, where, round(x, 4), round(y, 4))
        for line in lines
        for x, y in line.curve.points
    ]
