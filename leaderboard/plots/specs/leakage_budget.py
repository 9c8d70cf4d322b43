"""The bound of what can be known of a phase's hidden labels, by number of submissions, with a forecast."""

from __future__ import annotations

from collections.abc import Sequence

from leaderboard.plots.vega_lite import ACCENT, HELD, PALETTE, Spec, quantitative, spec

HEIGHT = 300
POINTS = 100
"""Number of points of the curve, if there are more submissions."""


def leakage_budget(bounds: Sequence[float], useful: float, forecast: tuple[int, float] | None) -> Spec | None:
    """Return the plot; None before the first answer.

    bounds: the bound before the first answer and after each one. useful: from this bound on, it says nothing. forecast:
    (number of further answers, the bound after them), or None.
    """
    n_answers = len(bounds) - 1
    if n_answers < 1:
        return None
    at_answers = sorted({round(n_answers * point / POINTS) for point in range(POINTS + 1)})
    curve = [{"answers": at, "bound": bounds[at]} for at in at_answers]
    now: Spec = {**curve[-1], "when": "Now", "is_ahead": False}
    values = [now]
    if forecast is not None:
        n_more, bound = forecast
        values.append({"answers": n_answers + n_more, "bound": bound, "when": f"After {n_more} more", "is_ahead": True})
    x, y = quantitative("answers", "submissions", domainMin=0), quantitative("bound", "bound", domainMin=0)
    fill = {"condition": {"test": "datum.is_ahead", "value": PALETTE["paper"]}, "value": ACCENT}
    position = {"x": x, "y": y}
    texts = [f"{value['when'].lower()} {value['bound']:.3f}" for value in values]
    return spec(
        f"The bound by number of submissions: {', '.join(texts)}. The list on the page has the same numbers.",
        values,
        height=HEIGHT,
        layer=[
            {
                "data": {"values": [{"bound": useful}]},
                "mark": {"type": "rule", "color": HELD, "strokeWidth": 2, "strokeDash": [5, 4]},
                "encoding": {"y": y},
            },
            {
                "data": {"values": curve},
                "mark": {"type": "line", "color": ACCENT, "strokeWidth": 2.5},
                "encoding": position,
            },
            {
                "mark": {"type": "line", "color": ACCENT, "strokeWidth": 2.5, "strokeDash": [2, 4]},
                "encoding": position,
            },
            {
                "mark": {"type": "point", "size": 120, "stroke": ACCENT, "strokeWidth": 2.5},
                "encoding": {
                    **position,
                    "fill": fill,
                    "tooltip": [
                        {"field": "when", "title": "When"},
                        {"field": "bound", "title": "Bound", "format": ".3f"},
                        {"field": "answers", "title": "Submissions"},
                    ],
                },
            },
        ],
    )
