"""Overlaid ROC curves: true positive rate against false positive rate."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.boards.queries import Board, Row, ShownScore
from leaderboard.boards.queries.plots import Curve
from leaderboard.boards.web.tables.number_format import shown_value
from leaderboard.plots.vega_lite import PALETTE, STRONG, Spec, quantitative, score_values, spec, system_values, zoom

SIDE = 440
COLORS = ("accent", "held", "curve-c", "curve-d")
"""Each colour is used twice, for a solid and for a dashed curve."""


def roc(board: Board, curves: Sequence[tuple[Row, ShownScore, Curve]], measure: str) -> Spec | None:
    """Return the plot of the curves, in their order; None without any.

    curves: at most eight, for which there are colours and dashes. measure: the legend's title.
    """
    if not curves:
        return None
    labels = [f"{shown_value(shown)}  {row.system}" for row, shown, _ in curves]
    values = [
        {**system_values(board, row), **score_values(shown), "label": label, "fpr": round(x, 4), "tpr": round(y, 4)}
        for label, (row, shown, curve) in zip(labels, curves, strict=True)
        for x, y in curve.points
    ]
    colors = [PALETTE[COLORS[i // 2 % len(COLORS)]] for i in range(len(labels))]
    dashes = [[7, 4] if i % 2 else [1, 0] for i in range(len(labels))]
    legend = {"title": measure, "symbolType": "stroke", "symbolSize": 600, "symbolStrokeWidth": 2.5}
    x = quantitative("fpr", "false positive rate", domain=[0, 1])
    y = quantitative("tpr", "true positive rate", domain=[0, 1])
    label = {"field": "label", "type": "nominal", "sort": labels, "legend": legend}
    return spec(
        f"ROC curves of {len(curves)} systems: {'; '.join(labels)}. The table has the same numbers.",
        values,
        width=SIDE,
        height=SIDE,
        layer=[
            {
                "data": {"values": [{"fpr": 0, "tpr": 0}, {"fpr": 1, "tpr": 1}]},
                "mark": {"type": "line", "color": STRONG, "strokeDash": [2, 4]},
                "encoding": {"x": x, "y": y},
            },
            {
                "params": [{"name": "pick", "select": {"type": "point", "fields": ["label"]}, "bind": "legend"}],
                "mark": {"type": "line", "strokeWidth": 2.5},
                "encoding": {
                    "x": x,
                    "y": y,
                    "order": {"field": "fpr"},
                    "color": {**label, "scale": {"domain": labels, "range": colors}},
                    "strokeDash": {**label, "scale": {"domain": labels, "range": dashes}},
                    "opacity": {"condition": {"param": "pick", "value": 1}, "value": 0.15},
                },
            },
            {
                "params": [zoom()],
                "transform": [{"filter": {"param": "pick"}}],
                "mark": {"type": "point", "size": 90, "color": "transparent", "cursor": "pointer"},
                "encoding": {
                    "x": x,
                    "y": y,
                    "detail": {"field": "label"},
                    "href": {"field": "url"},
                    "tooltip": [
                        {"field": "system", "title": "System"},
                        {"field": "value", "title": measure, "format": ".3f"},
                        {"field": "interval", "title": "interval"},
                        {"field": "fpr", "title": "False positive rate", "format": ".2f"},
                        {"field": "tpr", "title": "True positive rate", "format": ".2f"},
                    ],
                },
            },
        ],
    )
