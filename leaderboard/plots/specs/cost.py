"""Quality against cost: a point with its interval for each system, on a logarithmic cost axis, and the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.boards.queries import Board
from leaderboard.boards.web.pages.cost import CostedSystem
from leaderboard.boards.web.tables.cost_columns import CostColumn
from leaderboard.plots.vega_lite import (
    ACCENT,
    INK,
    PALETTE,
    STRONG,
    Spec,
    measure_title,
    quantitative,
    ranges,
    score_values,
    spec,
    system_values,
    tooltip,
    zoom,
)

HEIGHT = 420


def cost(board: Board, systems: Sequence[CostedSystem], column: CostColumn) -> Spec | None:
    """Return the plot; None without systems. systems: those with a score and a cost in `column`, cheapest first."""
    values = [
        {
            **system_values(board, entry.row),
            **score_values(entry.score),
            "cost": entry.cost,
            "cost_text": f"{entry.cost:,.10g} {column.unit}",
            "front": entry.on_front,
        }
        for entry in systems
    ]
    if not values:
        return None
    of_inputs = f" for {column.n_inputs:,} inputs" if column.n_inputs is not None else ""
    costs = [entry.cost for entry in systems]
    scale = {"type": "log", "base": 2, "domain": [min(costs) / 1.5, max(costs) * 1.5], "nice": False}
    axis = {"tickCount": {"expr": "narrow ? 4 : 8"}, "format": "~r", "grid": True}
    title = f"{column.title.lower()}{of_inputs}"
    x = {"field": "cost", "type": "quantitative", "title": title, "scale": scale, "axis": axis}
    measure = measure_title(board)
    y = quantitative("value", measure, padding=8)
    color = {"condition": {"test": "datum.front", "value": ACCENT}, "value": STRONG}
    fill = {"condition": {"test": "datum.front", "value": ACCENT}, "value": PALETTE["paper"]}
    tooltips = tooltip(board, ("cost_text", column.title))
    intervals: list[Spec] = [
        {
            "mark": {"type": "rule"},
            "encoding": {"x": x, "y": quantitative("low", measure), "y2": {"field": "high"}, "color": color},
        }
    ]
    points = {
        "mark": {"type": "point", "size": 160, "strokeWidth": 2, "cursor": "pointer"},
        "encoding": {
            "x": x,
            "y": y,
            "stroke": color,
            "fill": fill,
            "href": {"field": "url"},
            "tooltip": tooltips,
        },
    }
    if board.ladder_step is not None:
        intervals, points = [], ranges(measure, x, color=color, tooltip=tooltips, href={"field": "url"})
    return spec(
        f"{measure} against {title} of {len(values)} systems. The table has the same numbers.",
        values,
        height=HEIGHT,
        layer=[
            {
                "transform": [{"filter": "datum.front"}],
                "mark": {"type": "line", "interpolate": "step-after", "color": ACCENT, "strokeDash": [3, 3]},
                "encoding": {"x": x, "y": y},
            },
            *intervals,
            {
                "transform": [{"filter": "datum.front && !narrow"}],
                "mark": {"type": "text", "align": "left", "baseline": "bottom", "dx": 9, "dy": -5, "limit": 220},
                "encoding": {"x": x, "y": y, "text": {"field": "system"}, "color": {"value": INK}},
            },
            {"params": [zoom()], **points},
        ],
    )
