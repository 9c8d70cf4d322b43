"""Strips: a value as a point on the line of its interval, in a cell of each row of a table, all on one scale.

`boards/parts/strip.html` renders them as SVG with positions in percent, since the Content-Security-Policy forbids
inline styles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.queries import ShownScore
from leaderboard.core.web.scale import Scale, covering


@dataclass(frozen=True)
class Strip:
    """One value: positions of the point, and of the ends of its interval, as SVG lengths; without one, all are equal.

    is_range: on a ladder, the true score is anywhere between the ends, so that there is no point.
    """

    point: str
    low: str
    high: str
    has_interval: bool
    is_range: bool


@dataclass(frozen=True)
class Strips:
    """The strips of a table, in the order of its rows; None for a row without a value.

    ticks: (position, label) of the scale's ticks; empty if there are no strips. band: (position, width) of a band
    behind all strips. zero: position of a line at 0. Positions are SVG lengths.
    """

    strips: Sequence[Strip | None]
    ticks: Sequence[tuple[str, str]]
    band: tuple[str, str] | None = None
    zero: str | None = None


def strips_of(
    scores: Sequence[ShownScore], *, band: tuple[float, float] | None = None, with_zero: bool = False
) -> Strips:
    """Return the strips of scores or differences, which share a scale.

    band: ends of the band behind all strips. with_zero: the scale contains 0, which has a line.
    """
    spans = [_span(score) for score in scores]
    ends = [end for span in spans if span is not None for end in span]
    if not ends:
        return Strips([None] * len(scores), [])
    scale = covering([*ends, 0.0] if with_zero else ends)
    return Strips(
        [None if span is None else _strip(score, span, scale) for score, span in zip(scores, spans, strict=True)],
        scale.ticks,
        None if band is None else (scale.at(band[0]), scale.span(*band)),
        scale.at(0.0) if with_zero else None,
    )


def _span(score: ShownScore) -> tuple[float, float] | None:
    """Return the ends of a score's interval, or of its range on a ladder; for an unknown end the value, if any."""
    if score.value is None:
        return None
    low, high = (score.low, score.high) if score.bounds is None else (score.bounds.at_least, score.bounds.at_most)
    return score.value if low is None else low, score.value if high is None else high


def _strip(score: ShownScore, span: tuple[float, float], scale: Scale) -> Strip:
    low, high = map(scale.at, span)
    is_range = score.bounds is not None and low != high
    return Strip(scale.at(score.value or 0.0), low, high, score.low is not None, is_range)
