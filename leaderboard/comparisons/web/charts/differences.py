"""Chart of two systems' differences with their intervals, on one scale that includes zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.comparisons.queries.head_to_head import Line
from leaderboard.core.web.scale import Scale, covering


@dataclass(frozen=True)
class Strip:
    """A difference and the ends of its interval as SVG lengths; without an interval all three are equal."""

    point: str
    low: str
    high: str


@dataclass(frozen=True)
class Differences:
    """Chart of a table's lines: a strip per line, None without a difference. zero: position of 0, as an SVG length."""

    scale: Scale
    zero: str
    strips: Sequence[Strip | None]


def differences(lines: Sequence[Line]) -> Differences | None:
    """Return the chart of a table's lines, in their order; None if no line has a difference."""
    ends = [end for line in lines for end in (line.low, line.difference, line.high) if end is not None]
    if not ends:
        return None
    scale = covering([0.0, *ends])
    return Differences(scale, scale.at(0.0), [_strip(line, scale) for line in lines])


def _strip(line: Line, scale: Scale) -> Strip | None:
    if line.difference is None:
        return None
    low, high = (line.difference if end is None else end for end in (line.low, line.high))
    return Strip(scale.at(line.difference), scale.at(low), scale.at(high))
