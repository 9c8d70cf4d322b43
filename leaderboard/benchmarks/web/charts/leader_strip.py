"""Small plot of a leader's score: its interval, and the scores of the systems after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.benchmarks.queries.cards import Leader
from leaderboard.core.web.scale import covering


@dataclass(frozen=True)
class LeaderStrip:
    """The plot of a leader's score: positions as SVG lengths.

    point: the leader's score. low, high: the ends of its interval; equal to `point` if it has none. others: the scores
    of the systems after it.
    """

    point: str
    low: str
    high: str
    others: Sequence[str]


def leader_strip(leader: Leader | None) -> LeaderStrip | None:
    """Return the plot; None if there is nothing to compare: no leader with a value, or no other system."""
    if leader is None or leader.score.value is None or not leader.others:
        return None
    value = leader.score.value
    low = value if leader.score.low is None else leader.score.low
    high = value if leader.score.high is None else leader.score.high
    scale = covering([low, value, high, *leader.others])
    return LeaderStrip(scale.at(value), scale.at(low), scale.at(high), [scale.at(x) for x in leader.others])
