"""Rank agreement of metrics with people: a two-dimensional histogram of ranks as circles in a square, per metric."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.boards.queries import Board, Row, ShownScore
from leaderboard.boards.queries.plots import Grid
from leaderboard.boards.web.tables.number_format import shown_value
from leaderboard.plots.vega_lite import ACCENT, STRONG, Spec, spec, system_values

SIDE = 210
NARROW_AREA = 0.4
"""Area of a square on a narrow screen (`plots.js`), as a share of SIDE * SIDE."""
FULLEST = 0.5
"""Share of a column's units at which a circle fills its cell; smaller shares get smaller circles."""


def rank_agreement(board: Board, grids: Sequence[tuple[Row, ShownScore, Grid]], measure: str) -> Spec | None:
    """Return the plot with a square for each system, in the order of `grids`; None if there are none.

    grids: each system, which is a metric, with its rank correlation and its two-dimensional histogram: ranks of texts
    by the metric against their ranks by people.
    """
    if not grids:
        return None
    n_bins = grids[0][2].n_bins
    values = [
        {
            **system_values(board, row),
            "label": f"{shown_value(shown)}  {row.system}",
            "order": order,
            "across": (column.start + column.end) / 2,
            "up": part + 0.5,
            "metric_bins": f"{column.start + 1} to {column.end}",
            "human_bin": part + 1,
            "n": n,
            "share": min(1.0, n / sum(column.counts) / FULLEST),
        }
        for order, (row, shown, grid) in enumerate(grids, start=1)
        for column in grid.columns
        for part, n in enumerate(column.counts)
        if n
    ]
    position = {
        "type": "quantitative",
        "scale": {"domain": [0, n_bins], "nice": False},
        "axis": {"labels": False, "ticks": False},
    }
    x, y = {**position, "title": "scores of the metric →"}, {**position, "title": "ratings by people →"}
    area = f"(narrow ? {NARROW_AREA} : 1) * {(SIDE / n_bins) ** 2:.0f}"
    diagonal = {
        "mark": {"type": "line", "color": STRONG, "strokeDash": [2, 4]},
        "data": {"values": [{"across": 0, "up": 0}, {"across": n_bins, "up": n_bins}]},
        "encoding": {"x": {**x, "field": "across"}, "y": {**y, "field": "up"}},
    }
    circles = {
        "mark": {"type": "circle", "opacity": 1, "cursor": "pointer"},
        "encoding": {
            "x": {**x, "field": "across"},
            "y": {**y, "field": "up"},
            "size": {
                "field": "share",
                "type": "quantitative",
                "legend": None,
                "scale": {"domain": [0, 1], "range": [0, {"expr": area}]},
            },
            "color": {"condition": {"test": "datum.competes", "value": ACCENT}, "value": STRONG},
            "href": {"field": "url"},
            "tooltip": [
                {"field": "system", "title": "System"},
                {"field": "n", "title": "Texts"},
                {"field": "metric_bins", "title": "Part by the metric"},
                {"field": "human_bin", "title": "Part by people"},
            ],
        },
    }
    header = {"title": None, "labelFontSize": 14, "labelAnchor": "start", "labelLimit": SIDE}
    return spec(
        f"Ranks by {len(grids)} metrics against ranks by people, with the {measure} of each. "
        "The tables have the same numbers.",
        values,
        facet={"field": "label", "type": "nominal", "sort": {"field": "order"}, "header": header},
        columns=4,
        width=None,
        spec={"width": SIDE, "height": SIDE, "layer": [diagonal, circles]},
    )
