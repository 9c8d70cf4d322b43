"""Table of several measures on each value of one dimension, such as MRR and Hits@10 by missing entity."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from django.http import HttpRequest

from evaluator.measures.base import Measure
from leaderboard.boards.queries import WHOLE, Board, Slice, SliceValue
from leaderboard.boards.web.charts.heat import legends
from leaderboard.boards.web.tables.grouped import PlannedColumn, grouped_table, sorted_by
from leaderboard.boards.web.tables.heat_rows import Source, on_scale
from leaderboard.boards.web.tables.pages import TablePage

FEW = 4
"""Maximum number of values of a dimension whose page shows all measures by default."""
MOST = 60
"""Maximum number of columns of a readable table."""


def fits(board: Board, dimension: str, offered: Sequence[Measure]) -> bool:
    """Return True if a table of all measures is useful: there are several, and the table has at most MOST columns.

    offered: the measures with scores on the dimension's slices; each has a column for each value, and one overall.
    """
    return len(offered) > 1 and (len(board.dimensions[dimension]) + 1) * len(offered) <= MOST


def is_first_choice(board: Board, dimension: str) -> bool:
    return len(board.dimensions[dimension]) <= FEW


def measures_table(request: HttpRequest, board: Board, dimension: str, offered: Sequence[Measure]) -> dict[str, object]:
    """Return the template context of the table. `?sort=`: a JSON list of a measure and a value (null: overall).

    offered: the measures with scores on the dimension's slices.
    """
    known = [replace(value, n=_n(board, offered, value)) for value in board.values(dimension, offered[0].name)]
    with_gold, empty = with_units(known)
    values = list(dict.fromkeys(value.value for value in with_gold))
    slices = [WHOLE, *(value.slice for value in with_gold)]
    offered = [on_scale(request, measure, board.rows, slices) for measure in offered]
    plan = [("All", [_planned(board, measure, None, WHOLE) for measure in offered])]
    for value in values:
        plan.append((value, [_planned(board, measure, value, ((dimension, value),)) for measure in offered]))
    columns = [column for _, group in plan for column in group]
    cut = TablePage.from_request(request, len(board.rows))
    sorting = sorted_by(request, columns, columns[0].key)
    table = grouped_table(board, sorting, plan, cut)
    selected = next((i for i, (_, group) in enumerate(plan) if any(c.key == sorting.key for c in group)), 0)
    return {
        "cut": cut,
        "table": table,
        "empty_values": empty,
        "detail": table.detail(selected),
        "has_intervals": table.has_intervals,
        "legends": legends(offered),
    }


def with_units(values: Sequence[SliceValue]) -> tuple[Sequence[SliceValue], list[str]]:
    """Return (the values of a dimension that have gold units, the names of its other values).

    If no value has units, return (all values, []).
    """
    known = [value for value in values if value.n]
    return (known, [value.value for value in values if not value.n]) if known else (values, [])


def _n(board: Board, measures: Sequence[Measure], value: SliceValue) -> int:
    return max(board.n(measure.name, value.slice) or 0 for measure in measures)


def _planned(board: Board, measure: Measure, value: str | None, slice_: Slice) -> PlannedColumn:
    key = json.dumps([measure.name, value], ensure_ascii=False)
    return PlannedColumn(key, measure.title, Source(measure, slice_), board.n(measure.name, slice_))
