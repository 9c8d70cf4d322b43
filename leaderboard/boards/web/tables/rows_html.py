"""The rows of a board's table as markup: hundreds of cells, which a template takes ten times as long over."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from uuid import UUID

from django.urls import reverse
from django.utils.safestring import SafeString

from leaderboard.boards.queries import Board, Ranges, Row
from leaderboard.boards.web.tables import cost_columns
from leaderboard.boards.web.tables.columns import Table
from leaderboard.boards.web.tables.number_format import scored
from leaderboard.boards.web.tables.row_cells import cost, day, may_be, named, ranked, ranked_in_track


def written(table: Table, *, own: Collection[UUID] = ()) -> Iterator[SafeString]:
    """A `<tr>` each row. own: the submissions whose receipts the reader is offered. What people wrote is escaped by
    the functions that put it in."""
    board, slice_ = table.board, table.page.wanted.slice_
    shown = [(one.name, "num primary" if one.name == board.primary else "num") for one, _, _ in table.measures]
    costs, received, ranges = [column for column, _ in table.costs], table.received, board.ranges
    for row in board.rows:
        parts = [
            f'<tr{_apart(row)}>{_rank(row, ranges)}<th scope="row" class="col-system">{named(row)}',
            _receipt(board, row) if row.submission_id in own else "",
            "</th>",
            f'<td class="num">{ranked_in_track(row)}</td>' if table.tells_tracks else "",
            *(f'<td class="{css}">{scored(row.cell(name, slice_))}</td>' for name, css in shown),
            *_costs(row, costs),
            f'<td class="date">{day(row.received_at)}</td>' if received else "",
            "</tr>\n",
        ]
        yield SafeString("".join(parts))


def _apart(row: Row) -> str:
    return "" if row.competes else ' class="apart"'


def _rank(row: Row, ranges: Ranges) -> str:
    return f'<td class="col-rank num">{ranked(row)}{may_be(row, ranges)}</td>'


def _receipt(board: Board, row: Row) -> str:
    assert board.leaderboard is not None and board.gold is not None
    version = f"gold_version={board.gold.number}&amp;task_version={board.leaderboard.task_version}"
    return f' <a class="small" href="{reverse("submission_receipt", args=[row.submission_id])}?{version}">receipt</a>'


def _costs(row: Row, columns: Sequence[cost_columns.CostColumn]) -> list[SafeString]:
    return [cost(told) for told in cost_columns.cells(row, columns)]
