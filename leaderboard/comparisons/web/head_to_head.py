"""Two systems of a board side by side: the paired difference on the whole and by slice, and who is right where."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import conditional_page, require_safe

from evaluator.measures.base import Measure
from evaluator.tasks.registry import TASKS
from leaderboard.boards.disclosure.policies import reveals_comparisons, reveals_counts, reveals_items
from leaderboard.boards.queries import WHOLE, Board, Row, by_primary
from leaderboard.boards.queries.lookup import board_or_404
from leaderboard.boards.web.board_links import other_boards
from leaderboard.comparisons.actions.head_to_head import NotAsked, wanted
from leaderboard.comparisons.queries.head_to_head import Beside, Item, Line, beside
from leaderboard.comparisons.web.charts.differences import Differences, differences
from leaderboard.comparisons.web.rate_limit import Reader
from leaderboard.models import SideBySide, State

STATUS = {NotAsked.TOO_OFTEN: 429, NotAsked.BUSY: 503}
"""Of a page that has to be asked for again; it shows what the board does all the same."""
RETRY_SECONDS = 60


@dataclass(frozen=True)
class Table:
    """Lines of one family with their picture."""

    title: str
    heading: str
    lines: Sequence[Line]
    plot: Differences | None

    @property
    def n_tested(self) -> int:
        """Lines that p is corrected for: where nobody has units there is no test."""
        return sum(line.p is not None for line in self.lines)

    @property
    def rows(self) -> list[tuple[Line, Any]]:
        strips = self.plot.strips if self.plot else [None] * len(self.lines)
        return list(zip(self.lines, strips, strict=True))


@require_safe
@conditional_page
def side_by_side(request: HttpRequest, slug: str, phase: str, **version: int) -> HttpResponse:
    """`?a=`, `?b=` two systems, else the best two that compete; `?measure=` one of the board, else the primary."""
    board = board_or_404(request.user, slug, phase, within=None, **version)
    rows = by_primary(board)
    chosen = _chosen(request, rows)
    measure = next((one for one in board.measures if one.name == request.GET.get("measure")), None)
    measure = measure or board.measure(board.primary)
    context: dict[str, Any] = {
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "task": TASKS[board.phase.benchmark.task],
        "boards": other_boards(board),
        "rows": rows,
        "measure": measure,
        "tells_differences": reveals_comparisons(board.phase),
        "tells_counts": reveals_counts(board.phase),
        "tells_items": reveals_items(board.phase),
    }
    stored: SideBySide | NotAsked | None = None
    if chosen is not None and measure is not None:
        stored = _stored(request, board, *chosen)
        context |= _compared(board, *chosen, measure, stored)
    status = STATUS.get(stored, 200) if isinstance(stored, NotAsked) else 200
    response = render(request, "comparisons/head_to_head.html", context, status=status)
    if status != 200:
        response["Retry-After"] = str(RETRY_SECONDS)
    return response


def _chosen(request: HttpRequest, rows: Sequence[Row]) -> tuple[Row, Row] | None:
    """The two that the address names, each by its system's number; None where the board has no two. Raises Http404."""
    if len(rows) < 2:
        return None
    by_id = {str(row.system_id): row for row in rows}
    asked = [request.GET.get(name) for name in ("a", "b")]
    if any(one not in by_id for one in asked if one is not None):
        raise Http404("no such system on this board")
    first_choice = sorted(rows, key=lambda row: not row.competes)
    a = by_id[asked[0]] if asked[0] else next(row for row in first_choice if str(row.system_id) != asked[1])
    b = by_id[asked[1]] if asked[1] else next(row for row in first_choice if row is not a)
    return a, b


def _compared(board: Board, a: Row, b: Row, measure: Measure, stored: SideBySide | NotAsked | None) -> dict[str, Any]:
    row = stored if isinstance(stored, SideBySide) else None
    pair = beside(board.phase, a, b, row if row and row.state == State.DONE else None)
    asked = [
        (value, measure.name, ((dimension, value),))
        for dimension in board.dimensions
        for value in board.dimensions[dimension]
    ]
    tables = []
    for dimension, values in board.dimensions.items():
        slices = [one for one in asked if one[2][0][0] == dimension]
        there = [one for one in slices if (measure.name, one[2]) in a.cells or (measure.name, one[2]) in b.cells]
        if values and there:
            lines = pair.lines(there)
            tables.append(Table(f"By {dimension}", dimension, lines, differences(lines)))
    whole = [pair.line(one.name, one.name, WHOLE) for one in board.measures]
    return {
        "a": a,
        "b": b,
        "is_same": a is b,
        "line": pair.line(measure.name, measure.name),
        "tables": tables,
        "whole": whole,
        "computed": pair.computed,
        "state": row.state if row else "",
        "reason": row.get_reason_display() if row else "",
        "not_asked": stored.name if isinstance(stored, NotAsked) else "",
        "items": _items(pair, measure),
    }


def _items(pair: Beside, measure: Measure) -> list[tuple[Row, Sequence[Item]]]:
    here, there = pair.items.get(measure.name, ((), ()))
    return [(pair.a, here), (pair.b, there)]


def _stored(request: HttpRequest, board: Board, a: Row, b: Row) -> SideBySide | NotAsked | None:
    """The pair's row, asked for if it is not there yet; else why it is not. None: one system twice, or only a HEAD."""
    if board.leaderboard is None or a is b or a.run_id is None or b.run_id is None or request.method != "GET":
        return None
    reader = Reader(request)
    row = wanted(board=board.leaderboard, a=a.run_id, b=b.run_id, may_ask=reader.may_ask)
    if reader.was_let and isinstance(row, SideBySide):
        reader.has_asked(row.pk)
    return row
