"""Critical-difference diagram: systems in rank order, and bars that join those that do not differ significantly."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from leaderboard.boards.queries import Board, Row
from leaderboard.comparisons.queries.pairs import indistinguishable_groups
from leaderboard.plots.vega_lite import (
    ACCENT,
    HELD,
    ROW_HEIGHT,
    ROWS,
    Spec,
    measure_title,
    names,
    quantitative,
    row_targets,
    score_values,
    spec,
    system_values,
    tooltip,
)

COLUMN = 14
"""Distance of two columns of bars, in pixels."""


def significance(board: Board, rows: Sequence[Row], differ: Callable[[Row, Row], bool]) -> Spec | None:
    """Return the diagram; None if fewer than two systems have a value.

    rows: ranked systems, best first. differ: returns True if two systems differ significantly.
    """
    measure = measure_title(board)
    valued = [row for row in rows if row.score(board.primary).value is not None]
    if len(valued) < 2:
        return None
    values = [
        {
            **system_values(board, row),
            **score_values(row.score(board.primary)),
            "order": order,
            "system": row.system,
            "label": f"{row.rank}. {row.system}",
        }
        for order, row in enumerate(valued, start=1)
    ]
    bars = _bars(indistinguishable_groups(valued, differ), valued)
    bar_layer = {
        "data": {"values": bars},
        "mark": {"type": "rule", "strokeWidth": 6, "strokeCap": "round", "color": HELD},
        "encoding": {
            "x": {"value": {"expr": f"width + 60 + {COLUMN} * datum.column"}},
            "y": {**ROWS, "field": "top"},
            "y2": {"field": "bottom"},
            "tooltip": [{"field": "systems", "title": "No significant differences"}],
        },
    }
    return spec(
        f"{measure} of {len(values)} ranked systems; {len(bars)} bars join neighbours that do not differ "
        "significantly. The table lists all pairs that do not differ significantly, neighbours or not.",
        values,
        height={"step": ROW_HEIGHT},
        encoding={"y": ROWS},
        layer=[
            {"mark": {"type": "point", "size": 90, "color": ACCENT}, "encoding": {"x": quantitative("value", measure)}},
            {
                "mark": {"type": "text", "align": "left", "baseline": "middle"},
                "encoding": {"x": {"value": {"expr": "width + 10"}}, "text": {"field": "text"}},
            },
            names("label"),
            row_targets(tooltip(board)),
            *([bar_layer] if bars else []),
        ],
    )


def _bars(groups: Sequence[Sequence[Row]], rows: Sequence[Row]) -> list[Spec]:
    """Return a bar for each of the groups, which are neighbours in rank that do not differ significantly.

    rows: all systems, in rank order. Each bar is placed in the leftmost column in which it overlaps no other bar.
    """
    orders = {row.system_id: order for order, row in enumerate(rows, start=1)}
    ends: list[int] = []
    placed = []
    for group in groups:
        top, bottom = orders[group[0].system_id], orders[group[-1].system_id]
        column = next((index for index, end in enumerate(ends) if end < top), len(ends))
        ends[column : column + 1] = [bottom]
        systems = ", ".join(row.system for row in group)
        placed.append({"top": top, "bottom": bottom, "column": column, "systems": systems})
    return placed
