"""Line charts as SVG files for reports and papers: no script, readable without colour, for light and dark mode."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

_WIDTH, _HEIGHT = 560, 300
_LEFT, _TOP, _RIGHT, _BOTTOM = 56, 34, 170, 250
_LOOKS = (("#0072b2", ""), ("#d55e00", "7 4"), ("#009e73", "2 4"), ("#cc79a7", "10 3 2 3"), ("#56b4e9", "1 3"))
_STYLE = (
    "svg { color: #1f2328; background: #fff } @media (prefers-color-scheme: dark) "
    "{ svg { color: #e6edf3; background: #0d1117 } } text { fill: currentColor; font: 12px system-ui, sans-serif }"
)
_STEPS = 4

Points = Sequence[tuple[int, float | None]]


def line_chart(title: str, x_title: str, y_title: str, lines: Mapping[str, Points]) -> str:
    """Return an SVG chart. The x axis is logarithmic; the y axis is from 0 (or -1, if a value is negative) to 1.

    x_title, y_title: the titles of the axes. lines: name in the legend -> points (x, y) of the line; a point whose y is
    None is left out.
    """
    xs = sorted({x for points in lines.values() for x, _ in points})
    values = [y for points in lines.values() for _, y in points if y is not None]
    lowest = -1.0 if any(value < 0 for value in values) else 0.0
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" '
        f'height="{_HEIGHT}" role="img"><title>{escape(title)}</title><style>{_STYLE}</style>',
        f'<text x="{_LEFT}" y="18" font-weight="bold">{escape(title)}</text>',
        f'<text x="{_LEFT}" y="{_HEIGHT - 12}">{escape(x_title)}</text>',
        f'<text transform="translate(14 {_BOTTOM}) rotate(-90)">{escape(y_title)}</text>',
    ]
    for step in range(_STEPS + 1):
        value = lowest + (1 - lowest) * step / _STEPS
        y = _y(value, lowest)
        parts.append(
            f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y}" y2="{y}" stroke="currentColor" opacity=".2"/>'
            f'<text x="{_LEFT - 6}" y="{y + 4}" text-anchor="end">{value:g}</text>'
        )
    parts += [f'<text x="{_x(x, xs)}" y="{_BOTTOM + 16}" text-anchor="middle">{x}</text>' for x in xs]
    for index, (name, points) in enumerate(lines.items()):
        colour, dashes = _LOOKS[index % len(_LOOKS)]
        look = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes or "none"}"'
        places = [(_x(x, xs), _y(y, lowest)) for x, y in points if y is not None]
        parts.append(f'<polyline fill="none" {look} points="{" ".join(f"{x},{y}" for x, y in places)}"/>')
        parts += [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in places]
        at, left = _TOP + 8 + 18 * index, _WIDTH - _RIGHT + 12
        parts.append(
            f'<line x1="{left}" x2="{left + 26}" y1="{at}" y2="{at}" {look}/>'
            f'<text x="{left + 32}" y="{at + 4}">{escape(name)}</text>'
        )
    return "".join([*parts, "</svg>\n"])


def _x(value: int, values: Sequence[int]) -> float:
    lowest, highest = math.log(values[0]), math.log(values[-1])
    share = (math.log(value) - lowest) / (highest - lowest) if highest > lowest else 0.5
    return round(_LEFT + 10 + share * (_WIDTH - _RIGHT - _LEFT - 20), 1)


def _y(value: float, lowest: float) -> float:
    return round(_BOTTOM - (value - lowest) / (1 - lowest) * (_BOTTOM - _TOP), 1)
