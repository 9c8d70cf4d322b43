"""Head-to-head page of two systems: paired differences overall and by slice, and where only one system is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import conditional_page, require_safe
from msgspec import structs

from evaluator.measures.base import Measure
from evaluator.tasks.registry import TASKS
from leaderboard.boards.disclosure.policies import policy_of, reveals_comparisons, reveals_counts, reveals_items
from leaderboard.boards.queries import WHOLE, Board, Row, ShownScore, by_primary
from leaderboard.boards.queries.lookup import board_or_404
from leaderboard.boards.queries.reading import lines_of, rows_of
from leaderboard.boards.web.board_links import other_boards
from leaderboard.boards.web.charts.strips import Strip, Strips, strips_of
from leaderboard.comparisons.actions.head_to_head import NotAvailable, find_or_enqueue
from leaderboard.comparisons.queries.head_to_head import (
    HeadToHeadTable,
    Item,
    Line,
    head_to_head_table,
    shows_differences,
)
from leaderboard.comparisons.web.rate_limit import Viewer
from leaderboard.models import HeadToHead, State

STATUS = {NotAvailable.TOO_OFTEN: 429, NotAvailable.BUSY: 503}
"""HTTP status of the page if the comparison may be requested again later; the page still shows the board's scores."""
RETRY_SECONDS = 60


@dataclass(frozen=True)
class Table:
    """Lines of a comparison whose p-values are corrected together, as one family of tests, with strips."""

    title: str
    heading: str
    lines: Sequence[Line]
    strips: Strips

    @property
    def n_tested(self) -> int:
        """Number of tests that the p-values are corrected for; lines without a p-value do not count."""
        return sum(line.p is not None for line in self.lines)

    @property
    def rows(self) -> list[tuple[Line, Strip | None]]:
        return list(zip(self.lines, self.strips.strips, strict=True))


@require_safe
@conditional_page
def head_to_head(request: HttpRequest, slug: str, phase: str, **version: Any) -> HttpResponse:
    """Render the comparison of two systems.

    `?a=`, `?b=`: ids of the systems; default: the best two competing systems. `?measure=`: default: the primary
    measure.
    """
    board = board_or_404(request.user, slug, phase, systems=_requested(request), **version)
    rows = by_primary(board)
    chosen = _with_slices(board, _chosen(request, rows))
    measure = next((candidate for candidate in board.measures if candidate.name == request.GET.get("measure")), None)
    measure = measure or board.measure(board.primary)
    context: dict[str, Any] = {
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "task": TASKS[board.phase.benchmark.task],
        "boards": other_boards(board),
        "rows": rows,
        "measure": measure,
        "reveals_differences": reveals_comparisons(board.phase),
        "reveals_counts": reveals_counts(board.phase),
        "reveals_items": reveals_items(board.phase),
        "is_rounded": not policy_of(board.phase).exact,
    }
    stored: HeadToHead | NotAvailable | None = None
    if chosen is not None and measure is not None:
        context["is_withheld"] = context["reveals_differences"] and not shows_differences(board, *chosen)
        stored = None if context["is_withheld"] else _stored(request, board, *chosen)
        context |= _compared(board, *chosen, measure, stored)
    status = STATUS.get(stored, 200) if isinstance(stored, NotAvailable) else 200
    response = render(request, "comparisons/head_to_head.html", context, status=status)
    if status != 200:
        response["Retry-After"] = str(RETRY_SECONDS)
    return response


def _chosen(request: HttpRequest, rows: Sequence[Row]) -> tuple[Row, Row] | None:
    """Return the rows of the systems that `?a=` and `?b=` name by id, by default the best competing ones.

    None: there are fewer than two rows. Raises Http404 for an id that is not on the board.
    """
    if len(rows) < 2:
        return None
    by_id = {str(row.system_id): row for row in rows}
    ids = [request.GET.get(name) for name in ("a", "b")]
    if any(pk not in by_id for pk in ids if pk is not None):
        raise Http404("no such system on this board")
    competing_first = sorted(rows, key=lambda row: not row.competes)
    a = by_id[ids[0]] if ids[0] else next(row for row in competing_first if str(row.system_id) != ids[1])
    b = by_id[ids[1]] if ids[1] else next(row for row in competing_first if row is not a)
    return a, b


def _requested(request: HttpRequest) -> list[int]:
    """Return the ids that `?a=` and `?b=` name."""
    ids = (request.GET.get(name, "") for name in ("a", "b"))
    return [int(pk) for pk in ids if pk.isascii() and pk.isdigit() and len(pk) < 10]


def _with_slices(board: Board, chosen: tuple[Row, Row] | None) -> tuple[Row, Row] | None:
    """Return the chosen rows with their scores on all slices, which are not read for the other systems."""
    if chosen is None or board.leaderboard is None:
        return chosen
    pair = board.leaderboard.standings.filter(system__in=[row.system_id for row in chosen])
    scores = {row.system_id: row.scores for row in rows_of(board, lines_of(pair), within=None)}
    whole = {row.system_id: structs.replace(row, scores=scores.get(row.system_id, row.scores)) for row in chosen}
    return whole[chosen[0].system_id], whole[chosen[1].system_id]


def _compared(
    board: Board, a: Row, b: Row, measure: Measure, stored: HeadToHead | NotAvailable | None
) -> dict[str, Any]:
    row = stored if isinstance(stored, HeadToHead) else None
    pair = head_to_head_table(board, a, b, row if row and row.state == State.DONE else None)
    tables = []
    for dimension, values in board.dimensions.items():
        slices = [(value, ((dimension, value),)) for value in values]
        scored = [
            (value, measure.name, slice_)
            for value, slice_ in slices
            if (measure.name, slice_) in a.scores or (measure.name, slice_) in b.scores
        ]
        if scored:
            lines = pair.lines(scored)
            differences = [ShownScore(line.difference, line.low, line.high) for line in lines]
            tables.append(Table(f"By {dimension}", dimension, lines, strips_of(differences, with_zero=True)))
    whole = [pair.line(declared.title, declared.name, WHOLE) for declared in board.measures]
    return {
        "a": a,
        "b": b,
        "is_same": a is b,
        "line": pair.line(measure.name, measure.name),
        "tables": tables,
        "whole": whole,
        "computed": pair.computed,
        "state": row.state if row else "",
        "is_computing": row is not None and row.state in (State.QUEUED, State.RUNNING),
        "reason": row.get_reason_display() if row else "",
        "not_available": stored.name if isinstance(stored, NotAvailable) else "",
        "items": _items(pair, measure),
    }


def _items(pair: HeadToHeadTable, measure: Measure) -> list[tuple[Row, Sequence[Item]]]:
    a_items, b_items = pair.items.get(measure.name, ((), ()))
    return [(pair.a, a_items), (pair.b, b_items)]


def _stored(request: HttpRequest, board: Board, a: Row, b: Row) -> HeadToHead | NotAvailable | None:
    """Return the comparison of two systems, or the reason why there is none. If none is stored, enqueue a new one.

    None: the board or a run is missing, a and b are the same system, or the request is not a GET.
    """
    if board.leaderboard is None or a is b or a.run_id is None or b.run_id is None or request.method != "GET":
        return None
    viewer = Viewer(request)
    row = find_or_enqueue(board=board.leaderboard, a=a.run_id, b=b.run_id, may_ask=viewer.may_ask)
    if viewer.was_let and isinstance(row, HeadToHead):
        viewer.record_request(row.pk)
    return row
