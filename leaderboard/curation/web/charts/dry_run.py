"""Chart of dry runs: each baseline's primary measure with its confidence interval, on a common scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.core.web.scale import Scale, covering
from leaderboard.curation.queries.dry_run_report import BaselineRun, DryRunReport, ShownScore


@dataclass(frozen=True)
class Strip:
    """The row of one dry run in the chart.

    one: the dry run. score: its score on the primary measure. point, low, high: horizontal positions of the score and
    of the ends of its interval, as SVG lengths; all three are equal if there is no interval.
    """

    one: BaselineRun
    score: ShownScore
    point: str
    low: str
    high: str


@dataclass(frozen=True)
class Plot:
    scale: Scale
    strips: Sequence[Strip]


def plot(report: DryRunReport) -> Plot | None:
    """Return the chart of the dry runs whose primary measure has a value; None if there are no such dry runs."""
    scores = [(run, run.score(report.primary)) for run in report.done]
    shown = [(run, score, score.value) for run, score in scores if score.value is not None]
    if not shown:
        return None
    scale = covering(end for _, score, _ in shown for end in (score.low, score.value, score.high) if end is not None)
    strips = [
        Strip(
            run,
            score,
            scale.at(value),
            scale.at(value if score.low is None else score.low),
            scale.at(value if score.high is None else score.high),
        )
        for run, score, value in shown
    ]
    return Plot(scale, strips)
