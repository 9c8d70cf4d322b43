"""Scores over time: the best of a board as a step line with reference results, and the runs of one system."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime, timedelta

from leaderboard.boards.queries import Board
from leaderboard.boards.queries.system_history import RevealedRun
from leaderboard.boards.web.pages.progress import Level, ScoreAtTime
from leaderboard.plots.vega_lite import (
    ACCENT,
    HELD,
    INK,
    PALETTE,
    SOFT,
    STRONG,
    WASH,
    Spec,
    measure_title,
    quantitative,
    ranges,
    score_lines,
    score_values,
    spec,
    system_url,
    tooltip,
    zoom,
)

HEIGHT = 340
MAX_NAMES = 6
"""Maximum number of improvements with their system's name in the plot; the others have it in the tooltip."""
MIN_GAP = 0.05
"""Minimum distance of two labels, as a share of the plot's height."""
MIN_DISTANCE = 0.25
"""Minimum distance of two names at the same height, as a share of the plot's width."""
RECEIVED_LINE: Spec = {
    "field": "received",
    "timeUnit": "utcyearmonthdatehoursminutes",
    "title": "Received",
    "format": "%Y-%m-%d %H:%M UTC",
}
"""Line of a tooltip with the time at which a submission was received."""


def progress(board: Board, best: Sequence[tuple[int, ScoreAtTime]], levels: Sequence[Level]) -> Spec | None:
    """Return the plot; None if there is no score.

    best: (system id, score) of each improvement of the best score, sorted by time. levels: results to compare with,
    such as human performance.
    """
    shown = [(system, moment) for system, moment in best if moment.score.value is not None]
    values = [
        {
            "key": moment.number,
            "system": moment.name,
            "url": system_url(board, system),
            "received": _utc(moment.at),
            **score_values(moment.score),
        }
        for system, moment in shown
    ]
    if not values:
        return None
    first, last = best[0][1].at, best[-1][1].at
    middle = first + (last - first) / 2
    named = _named([moment for _, moment in shown])
    for value, (_, moment) in zip(values, shown, strict=True):
        value |= {"is_late": moment.at >= middle, "is_named": moment in named}
    x = _received(first, last)
    measure = measure_title(board)
    y = quantitative("value", measure, padding=8)
    color = {"condition": {"test": "datum.is_human", "value": HELD}, "value": STRONG}
    reference = {"data": {"values": reference_values(levels, [value["value"] for value in values])}}
    layers: list[Spec] = [
        {
            **reference,
            "mark": {"type": "rule", "strokeWidth": 1.5},
            "encoding": {
                "y": y,
                "color": color,
                "strokeDash": {"condition": {"test": "datum.is_human", "value": [1, 0]}, "value": [6, 4]},
                "tooltip": [{"field": "name", "title": "Name"}, {"field": "value", "title": measure, "format": ".3f"}],
            },
        },
        {
            **reference,
            "mark": {
                "type": "text",
                "align": "left",
                "baseline": "middle",
                "fontSize": 13,
                "clip": False,
                "limit": {"expr": "narrow ? 100 : 230"},
            },
            "encoding": {
                "x": {"value": {"expr": "width + 8"}},
                "y": quantitative("label_at", measure),
                "text": {"field": "name"},
                "color": {"condition": {"test": "datum.is_human", "value": HELD}, "value": SOFT},
            },
        },
    ]
    tooltips = [*tooltip(board), RECEIVED_LINE]
    low, high = quantitative("low", measure, padding=8), {"field": "high"}
    points: list[Spec] = [
        {
            "mark": {"type": "line", "interpolate": "step-after", "color": ACCENT, "strokeWidth": 2.5},
            "encoding": {"x": x, "y": y},
        },
        {"mark": {"type": "rule", "color": ACCENT}, "encoding": {"x": x, "y": low, "y2": high}},
        {
            "mark": {"type": "point", "size": 160, "cursor": "pointer"},
            "encoding": {"x": x, "y": y, "href": {"field": "url"}, "tooltip": tooltips},
        },
    ]
    bands: list[Spec] = [
        {
            "mark": {"type": "area", "interpolate": "step-after", "color": WASH},
            "encoding": {"x": x, "y": low, "y2": high},
        },
        ranges(measure, x, color={"value": ACCENT}, tooltip=tooltips, href={"field": "url"}),
    ]
    *steps, targets = points if board.ladder_step is None else bands
    return spec(
        f"Best {measure} over time: {len(values)} improvements. The table has the same numbers.",
        values,
        height=HEIGHT,
        layer=[
            *(layers if levels else []),
            *steps,
            {"params": [zoom()], **targets},
            *(
                {
                    "transform": [{"filter": f"!narrow && datum.is_named && {side}"}],
                    "mark": {"type": "text", "align": align, "baseline": "bottom", "dx": dx, "dy": -6, "limit": 220},
                    "encoding": {"x": x, "y": y, "text": {"field": "system"}, "color": {"value": INK}},
                }
                # A name on the outer side of its point would be cut off at the plot's edge.
                for side, align, dx in (("datum.is_late", "right", -8), ("!datum.is_late", "left", 8))
            ),
        ],
    )


def runs(shown: Sequence[RevealedRun], best: Collection[RevealedRun], measure: str) -> Spec | None:
    """Return the plot of a system's scores with a step line through the best so far; None for fewer than two scores.

    shown: the runs that the page lists, in order of time. best: those that were the best when they were submitted.
    measure: title of the measure.
    """
    values = [
        {
            "run": f"No. {number}",
            "received": _utc(run.at),
            "is_best": run in best,
            **score_values(run.score),
        }
        for number, run in enumerate(shown, start=1)
        if run.score.value is not None
    ]
    if len(values) < 2:
        return None
    steps = [value for value in values if value["is_best"]]
    line = {"values": [*steps, {**steps[-1], "received": values[-1]["received"]}]}
    x, y = _received(shown[0].at, shown[-1].at), quantitative("value", measure, padding=8)
    color = {"condition": {"test": "datum.is_best", "value": ACCENT}, "value": STRONG}
    fill = {"condition": {"test": "datum.is_best", "value": ACCENT}, "value": PALETTE["paper"]}
    is_ladder = any(run.score.bounds is not None for run in shown)
    tooltips = [{"field": "run", "title": "No."}, *score_lines(measure, is_ladder=is_ladder), RECEIVED_LINE]
    points: list[Spec] = [
        {
            "data": line,
            "mark": {"type": "line", "interpolate": "step-after", "color": ACCENT, "strokeWidth": 2.5},
            "encoding": {"x": x, "y": y},
        },
        {
            "mark": {"type": "rule"},
            "encoding": {"x": x, "y": quantitative("low", measure), "y2": {"field": "high"}, "color": color},
        },
        {
            "mark": {"type": "point", "size": 130, "strokeWidth": 2},
            "encoding": {"x": x, "y": y, "stroke": color, "fill": fill, "tooltip": tooltips},
        },
    ]
    # A ladder's score is a range, in which no value is the likeliest.
    *below, targets = [ranges(measure, x, color=color, tooltip=tooltips)] if is_ladder else points
    return spec(
        f"{measure} of {len(values)} submissions over time. The table has the same numbers.",
        values,
        height=HEIGHT,
        layer=[*below, {"params": [zoom()], **targets}],
    )


def _utc(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S}Z"


def _received(first: datetime, last: datetime) -> Spec:
    """Return the encoding of the time of receipt as a position, with some room before `first` and after `last`."""
    margin = max(timedelta(hours=1), (last - first) * 0.04)
    date_format = "%Y-%m-%d" if last - first > timedelta(days=4) else "%m-%d %H:%M"
    return {
        "field": "received",
        "type": "temporal",
        "title": "received (UTC)",
        "scale": {"type": "utc", "domain": [_utc(first - margin), _utc(last + margin)]},
        "axis": {"grid": False, "format": date_format, "tickCount": {"expr": "narrow ? 2 : 5"}},
    }


def _named(best: Sequence[ScoreAtTime]) -> list[ScoreAtTime]:
    """Return the improvements of the best score whose systems' names are written in the plot.

    These are the latest MAX_NAMES whose names do not overlap. Names overlap if their scores are close, unless they are
    far apart in time.
    """
    span = (best[-1].at - best[0].at) or timedelta(hours=1)
    values = [moment.score.value or 0.0 for moment in best]
    gap = MIN_GAP * (max(values) - min(values))
    named: list[ScoreAtTime] = []
    for moment in reversed(best):
        if len(named) < MAX_NAMES and all(
            abs((moment.score.value or 0.0) - (other.score.value or 0.0)) >= gap
            or abs(moment.at - other.at) >= span * MIN_DISTANCE
            for other in named
        ):
            named.append(moment)
    return named


def reference_values(levels: Sequence[Level], values: Sequence[float]) -> list[Spec]:
    """Return the reference results, highest value first, each with the height of its label, so that no labels overlap.

    values: the scores in the plot, which determine the scale of its vertical axis.
    """
    ends = [level.value for level in levels] + list(values)
    gap = MIN_GAP * (max(ends) - min(ends))
    placed: list[Spec] = []
    for level in sorted(levels, key=lambda level: -level.value):
        label_at = min([level.value, *(other["label_at"] - gap for other in placed[-1:])])
        placed.append({"name": level.name, "value": level.value, "is_human": level.is_human, "label_at": label_at})
    return placed
