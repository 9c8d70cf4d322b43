"""Scores by two dimensions as a heat map for each system, all on one colour scale: the page's tables as a picture."""

from __future__ import annotations

from collections.abc import Sequence

from evaluator.measures.base import Measure
from leaderboard.boards.web.charts.matrix import ALL_VALUES, Grid, Matrix
from leaderboard.boards.web.tables.heat_rows import HeatCell
from leaderboard.boards.web.tables.number_format import compact_score
from leaderboard.plots.vega_lite import DARK_SHADES, INK, LINE, PALETTE, SHADES, STRONG, Spec, spec

MAX_SYSTEMS = 60
CELL_WIDTH, CELL_HEIGHT = 48, 32
WIDTH = 1200
"""Width of all maps that are side by side, in pixels, unless one map is wider."""
MARGIN = 110
"""Room of a map's row headings and of the gap to the next map, in pixels."""
NO_SHADE = "none"


def matrices(grid: Grid, shown: Sequence[Matrix], measure: Measure) -> Spec | None:
    """Return a map for each of the first MAX_SYSTEMS matrices, in their order; None if there are none.

    grid: of the matrices, whose cells have scores on `measure`.
    """
    values = [
        {
            "order": order,
            "system": matrix.row.system,
            "column": column,
            "line": line,
            "text": compact_score(heat.score, 2),
            **_shade(heat),
            "is_margin": grid.lines[line][column].is_margin,
        }
        for order, matrix in enumerate(shown[:MAX_SYSTEMS], start=1)
        for line, (_, cells) in enumerate(matrix.lines)
        for column, heat in enumerate(cells)
    ]
    if not values:
        return None
    outer, inner = grid.pair
    shades = list(dict.fromkeys(str(value["shade"]) for value in values))
    # Headings are in parameters, because text of users and of the gold must not be part of an expression.
    params = [
        {"name": "systems", "value": [matrix.row.system for matrix in shown[:MAX_SYSTEMS]]},
        {"name": "columns", "value": [_heading(value) for value in grid.headings]},
        {"name": "lines", "value": [_heading(line[0].outer) for line in grid.lines]},
    ]
    axis = {"labelLimit": 80, "labelAngle": 0, "labelPadding": 6, "ticks": False, "labelColor": INK}
    return spec(
        f"{measure.title} of {values[-1]['order']} systems by {outer} and {inner}. The tables have the same numbers.",
        values,
        params=params,
        facet={
            "field": "order",
            "type": "ordinal",
            "header": {
                "title": None,
                "labelExpr": "systems[datum.value - 1]",
                "labelFontSize": 14,
                "labelAnchor": "start",
                "labelLimit": 300,
            },
        },
        columns=max(1, WIDTH // (CELL_WIDTH * len(grid.headings) + MARGIN)),
        width=None,
        resolve={"axis": {"x": "independent", "y": "independent"}},
        spec={
            "width": {"step": CELL_WIDTH},
            "height": {"step": CELL_HEIGHT},
            "encoding": {
                "x": {
                    "field": "column",
                    "type": "ordinal",
                    "title": inner,
                    "axis": {**axis, "orient": "top", "labelExpr": "columns[datum.value]"},
                },
                "y": {
                    "field": "line",
                    "type": "ordinal",
                    "title": outer,
                    "axis": {**axis, "labelExpr": "lines[datum.value]"},
                },
            },
            "layer": [
                {
                    "mark": {"type": "rect", "strokeWidth": 1},
                    "encoding": {
                        "color": {
                            "field": "shade",
                            "type": "nominal",
                            "legend": None,
                            "scale": {
                                "domain": shades,
                                "range": [SHADES.get(name, PALETTE["paper"]) for name in shades],
                            },
                        },
                        "stroke": {"condition": {"test": "datum.is_margin", "value": STRONG}, "value": LINE},
                    },
                },
                {
                    "mark": {"type": "text", "baseline": "middle", "fontSize": 12},
                    "encoding": {
                        "text": {"field": "text"},
                        "color": {"condition": {"test": "datum.is_dark", "value": PALETTE["on-accent"]}, "value": INK},
                    },
                },
            ],
        },
    )


def _shade(heat: HeatCell) -> Spec:
    return {"shade": heat.shade or NO_SHADE, "is_dark": heat.shade in DARK_SHADES}


def _heading(value: str | None) -> str:
    return ALL_VALUES if value is None else value
