"""Interval plot: the primary measure of each system as a point with its interval."""

from __future__ import annotations

from leaderboard.boards.queries import WHOLE, Board, Slice, by_primary
from leaderboard.plots.vega_lite import (
    ACCENT,
    ROW_HEIGHT,
    ROWS,
    STRONG,
    WASH,
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

MAX_SYSTEMS = 30
"""Systems in the plot, the best ones; the table has all."""


def intervals(board: Board, slice_: Slice = WHOLE) -> Spec | None:
    """Return the plot of the best MAX_SYSTEMS systems with a value on the slice, best first; None if there are none."""
    scores = [(row, row.score(board.primary, slice_)) for row in by_primary(board, slice_)[:MAX_SYSTEMS]]
    shown = [(row, score) for row, score in scores if score.value is not None]
    if not shown:
        return None
    measure = measure_title(board)
    values = [
        {**system_values(board, row), **score_values(score), "order": order}
        for order, (row, score) in enumerate(shown, start=1)
    ]
    leader = [
        {"low": score.low, "high": score.high} for row, score in shown if row.rank == 1 and score.low is not None
    ][:1]
    band = {
        "data": {"values": leader},
        "mark": {"type": "rect", "color": WASH},
        "encoding": {"x": quantitative("low"), "x2": {"field": "high"}, "y": {"value": 0}, "y2": {"value": "height"}},
    }
    color = {"condition": {"test": "datum.competes", "value": ACCENT}, "value": STRONG}
    # A ladder's score is a range, in which no value is the likeliest.
    point = {"mark": {"type": "point", "size": 80}, "encoding": {"x": quantitative("value"), "color": color}}
    return spec(
        f"{measure} of {len(values)} systems with their intervals. The table has the same numbers.",
        values,
        height={"step": ROW_HEIGHT},
        encoding={"y": ROWS},
        layer=[
            *([band] if leader else []),
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {"x": quantitative("low", measure), "x2": {"field": "high"}, "color": color},
            },
            *([point] if board.ladder_step is None else []),
            {
                "mark": {"type": "text", "align": "left", "baseline": "middle"},
                "encoding": {"x": {"value": {"expr": "width + 12"}}, "text": {"field": "text"}},
            },
            names(),
            row_targets(tooltip(board)),
        ],
    )
