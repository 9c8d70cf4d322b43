"""Table of several measures on each value of one dimension, such as MRR and Hits@10 by missing entity."""

from __future__ import annotations

import json
from collections.abc import Sequence

from django.http import HttpRequest

from evaluator.measures.base import Measure
from leaderboard.boards.queries import WHOLE, Board, Slice
from leaderboard.boards.web.charts.heat import legends
from leaderboard.boards.web.tables.grouped import PlannedColumn, grouped_table, sorted_by
from leaderboard.boards.web.tables.heat_rows import Source
from leaderboard.boards.web.tables.pages import TablePage

FEW = 4
"""Maximum number of values of a dimension whose page shows all measures by default."""
MOST = 60
"""Maximum number of columns of a readable table."""


def fits(board: Board, dimension: str, offered: Sequence[Measure]) -> bool:
    """Return True if a table of all measures is useful: there are several, and together at most MOST columns."""
    return len(offered) > 1 and (len(board.dimensions[dimension]) + 1) * len(offered) <= MOST


def is_first_choice(board: Board, dimension: str) -> bool:
    return len(board.dimensions[dimension]) <= FEW


def measures_table(request: HttpRequest, board: Board, dimension: str, offered: Sequence[Measure]) -> dict[str, object]:
    """Return the table as template context. `?sort=`: a JSON list of a measure and a value (null: overall)."""
    values = list(dict.fromkeys(board.dimensions[dimension]))
    plan = [("all", [_planned(board, measure, None, WHOLE) for measure in offered])]
    for value in values:
        plan.append((value, [_planned(board, measure, value, ((dimension, value),)) for measure in offered]))
    columns = [column for _, group in plan for column in group]
    cut = TablePage.from_request(request, len(board.rows))
    table = grouped_table(board, sorted_by(request, columns, columns[0].key), plan, cut)
    return {
        "cut": cut,
        "table": table,
        "has_intervals": table.has_intervals,
        "legends": legends(offered),
    }


def _planned(board: Board, measure: Measure, value: str | None, slice_: Slice) -> PlannedColumn:
    key = json.dumps([measure.name, value], ensure_ascii=False)
    return PlannedColumn(key, measure.name, Source(measure, slice_), board.n(measure.name, slice_))
