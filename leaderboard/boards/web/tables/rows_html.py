"""HTML of a board's table rows, written by functions, since a template would take ten times as long for hundreds of
cells.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from html import escape  # Django's is lazy, which costs more than the escaping
from uuid import UUID

from django.urls import reverse
from django.utils.safestring import SafeString

from leaderboard.boards.queries import Board, Ranges, Row
from leaderboard.boards.queries.columns import RowColumn
from leaderboard.boards.queries.facts import Fact, shown
from leaderboard.boards.web.tables import cost_columns
from leaderboard.boards.web.tables.number_format import scored
from leaderboard.boards.web.tables.row_cells import CELLS, cost, may_lead, rank_html, rank_range_html, system_html
from leaderboard.boards.web.tables.table import Table

_OWN = ' <span class="tag tag-own">yours</span>'


def groups(
    table: Table, *, own: Collection[int] = (), readable: Collection[UUID] = ()
) -> list[tuple[bool, Iterator[SafeString]]]:
    """Return the rows in two groups, as (competes, a `<tr>` per row): competing systems, then all others.

    A group without rows is left out. own, readable: see `written`.
    """
    rows = ([row for row in table.board.rows if row.competes is competes] for competes in (True, False))
    return [(group[0].competes, written(table, group, own=own, readable=readable)) for group in rows if group]


def written(
    table: Table, rows: Iterable[Row], *, own: Collection[int] = (), readable: Collection[UUID] = ()
) -> Iterator[SafeString]:
    """Yield a `<tr>` of the table for each of the rows. User text is escaped by the functions that insert it.

    own: ids of the viewer's systems, whose rows are marked. readable: ids of submissions whose rows get a link to
    their receipt.
    """
    board, slice_ = table.board, table.page.query.slice_
    measures = [
        (measure.name, "num primary" if measure.name == board.primary else "num") for measure, _, _ in table.measures
    ]
    costs, ranges = [column for column, _ in table.costs], board.ranges
    before, after = ([column for column, _ in columns] for columns in (table.before, table.after))
    for row in rows:
        parts = [
            f'<tr id="system-{row.system_id}"{_row_class(row, row.system_id in own)}>{_rank(row, ranges)}',
            f'<th scope="row" class="col-system">{system_html(row)}',
            _OWN if row.system_id in own else "",
            _receipt(board, row) if row.submission_id in readable else "",
            "</th>",
            *(_cell(row, column) for column in before),
            *(f'<td class="{css}">{scored(row.score(name, slice_))}</td>' for name, css in measures),
            *_costs(row, costs),
            *(_fact(row, fact) for fact, _ in table.facts),
            *(_cell(row, column) for column in after),
            "</tr>\n",
        ]
        yield SafeString("".join(parts))


def _cell(row: Row, column: RowColumn) -> str:
    """Return the cell of a row column, as escaped text if CELLS has no markup for it."""
    css = {int: "num", datetime: "date"}.get(column.kind, "") + " of-tracks" * column.of_tracks
    value = column.value(row)
    shown = CELLS[column.name](row) if column.name in CELLS else escape("" if value is None else str(value))
    return f'<td class="{css}">{shown}</td>' if css else f"<td>{shown}</td>"


def _fact(row: Row, fact: Fact) -> str:
    css = "num" if fact.is_number else "fact"
    return f'<td class="{css}"><bdi>{escape(shown(row.facts.get(fact.name)))}</bdi></td>'


def _row_class(row: Row, own: bool) -> str:
    names = [name for name, applies in (("apart", not row.competes), ("own", own)) if applies]
    return f' class="{" ".join(names)}"' if names else ""


def _rank(row: Row, ranges: Ranges) -> str:
    return f'<td class="col-rank num">{rank_html(row, is_top=may_lead(row, ranges))}{rank_range_html(row, ranges)}</td>'


def _receipt(board: Board, row: Row) -> str:
    assert board.leaderboard is not None and board.gold is not None
    version = f"gold_version={board.gold.number}&amp;task_version={board.leaderboard.task_version}"
    return f' <a class="small" href="{reverse("submission_receipt", args=[row.submission_id])}?{version}">receipt</a>'


def _costs(row: Row, columns: Sequence[cost_columns.CostColumn]) -> list[SafeString]:
    return [cost(pair) for pair in cost_columns.cost_texts(row, columns)]
