"""Dumbbell plot of a symmetric set: accuracy on original and generated claims, and that of a claim-only system."""

from __future__ import annotations

from leaderboard.boards.queries import Board, Row
from leaderboard.boards.web.pages.symmetric import CLAIM_ONLY_ACCURACY, GENERATED, ORIGINAL
from leaderboard.boards.web.tables.number_format import in_words, shown_value
from leaderboard.plots.vega_lite import (
    ACCENT,
    HELD,
    INK,
    PALETTE,
    ROW_HEIGHT,
    ROWS,
    STRONG,
    Spec,
    names,
    quantitative,
    row_targets,
    spec,
    system_values,
)


def symmetric(board: Board) -> Spec | None:
    """Return the plot of the systems with both accuracies, the best on generated claims first; None without any."""
    rows = [
        (row, row.score("accuracy", ORIGINAL), row.score("accuracy", GENERATED))
        for row in sorted(board.rows, key=_generated, reverse=True)
    ]
    values = [
        {
            **system_values(board, row),
            "original": original.value,
            "generated": generated.value,
            "original_text": in_words(original),
            "generated_text": in_words(generated),
            "shown": shown_value(generated),
        }
        for row, original, generated in rows
        if original.value is not None and generated.value is not None
    ]
    for order, value in enumerate(values, start=1):
        value["order"] = order
    if not values:
        return None
    color = {"condition": {"test": "datum.competes", "value": ACCENT}, "value": STRONG}
    scale: Spec = {"domain": [0, 1]}
    floor = {"data": {"values": [{"floor": CLAIM_ONLY_ACCURACY, "label": "claim only, overall"}]}}
    floor_x = {"x": quantitative("floor", **scale)}
    tooltips = [
        {"field": "system", "title": "System"},
        {"field": "original_text", "title": "Original"},
        {"field": "generated_text", "title": "Generated"},
    ]
    return spec(
        f"Accuracy of {len(values)} systems on original and on generated claims. The table has the same numbers.",
        values,
        height={"step": ROW_HEIGHT},
        encoding={"y": ROWS},
        layer=[
            {
                **floor,
                "mark": {"type": "rule", "strokeDash": [4, 3], "color": HELD, "strokeWidth": 1.5},
                "encoding": {**floor_x, "y": {"value": 0}, "y2": {"value": "height"}},
            },
            {
                **floor,
                "mark": {"type": "text", "dy": -8, "color": INK, "fontSize": 12},
                "encoding": {**floor_x, "y": {"value": 0}, "text": {"field": "label"}},
            },
            {
                "mark": {"type": "rule", "strokeWidth": 2},
                "encoding": {
                    "x": quantitative("original", "accuracy", **scale),
                    "x2": {"field": "generated"},
                    "color": color,
                },
            },
            {
                "mark": {"type": "point", "size": 80, "fill": PALETTE["paper"], "strokeWidth": 2},
                "encoding": {"x": quantitative("original", **scale), "stroke": color},
            },
            {
                "mark": {"type": "point", "size": 90},
                "encoding": {"x": quantitative("generated", **scale), "color": color},
            },
            {
                "mark": {"type": "text", "align": "left", "baseline": "middle"},
                "encoding": {
                    "x": {"value": {"expr": "width + 12"}},
                    "text": {"field": "shown"},
                },
            },
            names(),
            row_targets(tooltips),
        ],
    )


def _generated(row: Row) -> float:
    value = row.score("accuracy", GENERATED).value
    return float("-inf") if value is None else value
