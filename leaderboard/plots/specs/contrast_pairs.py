"""Stacked bars of a symmetric set's pairs of an original and a generated claim, by which of them is right."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.boards.queries import Board, Row
from leaderboard.boards.queries.plots import Pairs
from leaderboard.boards.web.pages.contrast_pairs import CLAIM_ONLY_BOUND, KINDS, MOST
from leaderboard.plots.vega_lite import INK, PALETTE, ROWS, Spec, names, spec, system_values

ROOM = 0.07
"""Smallest share of a segment that has room for its number."""
COLORS = ("accent", "held", "flip", "neither")


def contrast_pairs(board: Board, rows: Sequence[tuple[Row, Pairs]], *, are_whole: bool = False) -> Spec | None:
    """Return the plot of the first MOST systems of `rows`; None if there are none.

    rows: systems with counts of their pairs, in the order of the plot. are_whole: True if every group has its four
    members; then CLAIM_ONLY_BOUND is drawn, the largest share of pairs that are both right if only claims are read.
    """
    values = []
    for order, (row, pairs) in enumerate(rows[:MOST], start=1):
        start = 0
        for kind, title, _ in KINDS:
            n = getattr(pairs, kind)
            ends = {"start": start / pairs.n, "end": (start + n) / pairs.n, "middle": (start + n / 2) / pairs.n}
            counts = {"kind": title, "n": n, "share": n / pairs.n, "pairs": pairs.n}
            values.append({**system_values(board, row), "order": order, **counts, **ends})
            start += n
    if not values:
        return None
    titles = [title for _, title, _ in KINDS]
    scale = {"domain": titles, "range": [PALETTE[name] for name in COLORS]}
    axis = {"format": "%", "tickCount": {"expr": "narrow ? 4 : 8"}}
    x: Spec = {"type": "quantitative", "scale": {"domain": [0, 1]}, "axis": axis}
    picked = {"condition": {"param": "pick", "value": 1}, "value": 0.25}
    bound: Spec = {
        "data": {"values": [{"bound": CLAIM_ONLY_BOUND, "label": "claim only: at most ⅓ both right"}]},
        "encoding": {"x": {**x, "field": "bound", "title": None}, "y": {"value": -4}, "y2": {"value": "height"}},
    }
    floor: list[Spec] = [
        {**bound, "mark": {"type": "rule", "strokeDash": [4, 3], "strokeWidth": 1.5, "color": INK}},
        {
            **bound,
            "mark": {"type": "text", "dy": -10, "color": INK, "fontSize": 12},
            "encoding": {**bound["encoding"], "text": {"field": "label"}, "y2": {"value": -4}},
        },
    ]
    floor[1]["encoding"].pop("y2")
    return spec(
        f"Pairs of {order} systems: both right, only the original right (drop), only the generated claim right (flip), "
        "both wrong. The table has the same numbers.",
        values,
        height={"step": 32},
        encoding={"y": ROWS},
        layer=[
            {
                "params": [{"name": "pick", "select": {"type": "point", "fields": ["kind"]}, "bind": "legend"}],
                "mark": {"type": "bar", "height": 22, "cursor": "pointer"},
                "encoding": {
                    "x": {**x, "field": "start", "title": "% of pairs"},
                    "x2": {"field": "end"},
                    "color": {"field": "kind", "scale": scale, "legend": {"orient": "top", "offset": 24}},
                    "opacity": picked,
                    "href": {"field": "url"},
                    "tooltip": [
                        {"field": "system", "title": "System"},
                        {"field": "kind", "title": "Pairs with"},
                        {"field": "n", "title": "Number"},
                        {"field": "pairs", "title": "of"},
                        {"field": "share", "title": "Share", "format": ".1%"},
                    ],
                },
            },
            {
                "transform": [{"filter": f"datum.share >= {ROOM}"}],
                "mark": {"type": "text", "baseline": "middle", "fontSize": 13},
                "encoding": {
                    "x": {**x, "field": "middle", "title": None},
                    "text": {"field": "n"},
                    "color": {
                        "condition": {
                            "test": {"field": "kind", "oneOf": titles[:2]},
                            "value": PALETTE["on-accent"],
                        },
                        "value": INK,
                    },
                },
            },
            {"transform": [{"filter": f"datum.kind === '{titles[0]}'"}], **names()},
            *(floor if are_whole else []),
        ],
    )
