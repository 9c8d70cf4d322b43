"""Vega-Lite specifications: the parts that all plots have in common, and layers that several plots use.

A specification contains its data and a light theme, so notebooks show it as it is. On the site, `static/js/plots.js`
replaces each colour of PALETTE by the CSS variable with the colour's name, which also has a value for dark mode.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.urls import reverse

import leaderboard
from evaluator.statistics.confidence import percent
from leaderboard.boards.queries import Board, Row, ShownScore
from leaderboard.boards.web.tables.number_format import score, shown_value, true_score

Spec = dict[str, Any]
Values = Sequence[Mapping[str, object]]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
COLOURS = (
    "paper",
    "ink",
    "soft",
    "line",
    "line-strong",
    "accent",
    "accent-wash",
    "on-accent",
    "held",
    "curve-c",
    "curve-d",
    "flip",
    "neither",
)
"""CSS variables of the colours of plots."""


def _light(stylesheet: str) -> str:
    """Return the rules of a stylesheet that come before those for dark mode."""
    sheet = Path(leaderboard.__file__).parent / "static" / "css" / stylesheet
    return sheet.read_text().partition("@media (prefers-color-scheme: dark)")[0]


_VARIABLES = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", _light("holdout.css") + _light("plots.css")))
PALETTE: dict[str, str] = {name: _VARIABLES[name] for name in COLOURS}
"""CSS variable -> its colour in the light scheme. All differ, so that each can be replaced by its variable."""
_SHADES = re.findall(r"\.((?:heat|warm)-\d+) \{ --heat: (#[0-9a-f]{6});( --heat-ink)?", _light("matrices.css"))
SHADES = {name: colour for name, colour, _ in _SHADES}
"""CSS class of a heat table's cell (`boards.web.charts.heat`) -> its background in the light scheme."""
DARK_SHADES = {name for name, _, ink in _SHADES if ink}
"""Those that are too dark for black text."""
INK, SOFT, LINE, STRONG = (PALETTE[name] for name in ("ink", "soft", "line", "line-strong"))
ACCENT, WASH, HELD = (PALETTE[name] for name in ("accent", "accent-wash", "held"))
CONFIG: Spec = {
    "background": "transparent",
    "font": "'Source Sans 3', 'Noto Sans', sans-serif",
    "view": {"stroke": None},
    "axis": {
        "labelColor": SOFT,
        "titleColor": SOFT,
        "gridColor": LINE,
        "domainColor": STRONG,
        "tickColor": LINE,
        "labelFontSize": 13,
        "titleFontSize": 13,
        "titleFontWeight": 600,
        "labelFlush": False,
        "domain": False,
    },
    "legend": {"labelColor": INK, "titleColor": SOFT, "labelFontSize": 14, "labelLimit": 300, "title": None},
    "header": {"labelColor": INK, "titleColor": SOFT},
    "text": {"color": INK, "fontSize": 14},
    "rule": {"color": STRONG},
    "point": {"color": ACCENT, "filled": True, "opacity": 1},
}
ROW_HEIGHT = 28
"""Height of a system's row in pixels; narrow screens, where its name is above the plot, use more."""
NAME_WIDTH = 250
"""Maximum width of a system's name, left of the plot."""
WIDE = 700
"""Width of a plot that `plots.js` makes as wide as the page."""
NARROW: Spec = {"name": "narrow", "value": False}
"""Parameter that `plots.js` sets to true on narrow screens: names are then above their rows, or left out."""


def spec(description: str, values: Values, **parts: Any) -> Spec:
    """Return a specification with its data. description: for screen readers. parts: mark, layer, encoding and so on."""
    parts.setdefault("width", WIDE)
    params = [NARROW, *parts.pop("params", ())]
    return {
        "$schema": SCHEMA,
        "description": description,
        "usermeta": {"palette": PALETTE},
        "config": CONFIG,
        "data": {"values": list(values)},
        "params": params,
        **parts,
    }


def system_values(board: Board, row: Row) -> Spec:
    """Return the fields of a system that all plots have: key, system (its name), team, competes, url (of its page)."""
    return {
        "key": row.system_id,
        "system": row.system,
        "team": row.team,
        "competes": row.competes,
        "url": system_url(board, row.system_id),
    }


def measure_title(board: Board) -> str:
    """Return the title of the measure that ranks a board."""
    measure = board.measure(board.primary)
    return measure.title if measure is not None else board.primary


def system_url(board: Board, system_id: int) -> str:
    query = f"?board={board.leaderboard.pk}" if board.leaderboard else ""
    return reverse("system", args=[system_id]) + query


def score_values(shown: ShownScore) -> Spec:
    """Return the fields of a score: value, low, high, text (the value as text) and interval (the interval as text).

    On a ladder, low and high are the bounds of the true score.
    """
    if shown.bounds is not None:
        low, high, interval = shown.bounds.at_least, shown.bounds.at_most, true_score(shown)
    elif shown.low is None or shown.high is None:
        low, high, interval = None, None, "none"
    else:
        low, high = shown.low, shown.high
        interval = f"{score(low, shown.decimals)} to {score(high, shown.decimals)}"
    return {"value": shown.value, "low": low, "high": high, "text": shown_value(shown), "interval": interval}


def quantitative(field: str, title: str | None = None, **scale: Any) -> Spec:
    """Return the encoding of a numeric field as a position (x or y); its axis need not begin at 0.

    title: of the axis; None: no title. scale: further properties of the scale.
    """
    axis = {"tickCount": {"expr": "narrow ? 4 : 8"}}
    return {"field": field, "type": "quantitative", "title": title, "axis": axis, "scale": {"zero": False, **scale}}


def tooltip(board: Board, *more: tuple[str, str]) -> list[Spec]:
    """Return the tooltip of a system's score with its interval. more: (field, title) of further lines."""
    return [
        {"field": "system", "title": "System"},
        *score_lines(measure_title(board), is_ladder=board.ladder_step is not None),
        *({"field": field, "title": title} for field, title in more),
    ]


def score_lines(measure: str, *, is_ladder: bool) -> list[Spec]:
    """Return the lines of a tooltip with a score and its interval. measure: its title."""
    return [
        {"field": "text", "title": measure},
        {"field": "interval", "title": "Ladder" if is_ladder else f"{percent()} interval"},
    ]


def ranges(measure: str, x: Spec, **encoding: Any) -> Spec:
    """Return a layer of vertical bars, for phases with a ladder: each spans the bounds of a true score.

    measure: title of the axis. x: the encoding of the bars' positions. encoding: further encodings. No value between
    the bounds is the likeliest, so there is no point.
    """
    return {
        "mark": {"type": "rule", "strokeWidth": 10, **({"cursor": "pointer"} if "href" in encoding else {})},
        "encoding": {"x": x, "y": quantitative("low", measure, padding=8), "y2": {"field": "high"}, **encoding},
    }


def names(field: str = "system") -> Spec:
    """Return a layer of system names, left of the plot, or above their rows in a narrow plot.

    Each name links to its system's page. field: the field that has the names.
    """
    return {
        "mark": {
            "type": "text",
            "align": {"expr": "narrow ? 'left' : 'right'"},
            "baseline": "middle",
            "dy": {"expr": "narrow ? -19 : 0"},
            "limit": {"expr": f"narrow ? width : {NAME_WIDTH}"},
            "cursor": "pointer",
        },
        "encoding": {
            "x": {"value": {"expr": "narrow ? 0 : -12"}},
            "text": {"field": field},
            "href": {"field": "url"},
            "color": {"condition": {"test": "datum.competes", "value": INK}, "value": SOFT},
        },
    }


def row_targets(tooltips: list[Spec]) -> Spec:
    """Return a transparent layer over each row, which has the tooltip and the link: a pointer need not hit the dot."""
    return {
        "mark": {"type": "rect", "color": "transparent", "cursor": "pointer"},
        "encoding": {
            "x": {"value": 0},
            "x2": {"value": "width"},
            "tooltip": tooltips,
            "href": {"field": "url"},
        },
    }


ROWS: Spec = {"field": "order", "type": "ordinal", "axis": None, "scale": {"paddingInner": 0.2, "paddingOuter": 0.1}}
"""Encoding of rows, one for each system, in the order of the field `order`."""


def zoom() -> Spec:
    """Return the parameter that lets readers zoom: drag to move, Shift and wheel to zoom, double click to reset."""
    return {
        "name": "zoom",
        "select": {"type": "interval", "zoom": "wheel![event.shiftKey]", "clear": "dblclick"},
        "bind": "scales",
    }
