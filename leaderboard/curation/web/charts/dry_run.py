"""Chart of dry runs: each baseline's primary measure with its interval, on a common scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.core.web.scale import Scale, covering
from leaderboard.curation.queries.dry_run_report import BaselineRun, DryRunReport, ShownScore


@dataclass(frozen=True)
class Strip:
    """One baseline's row. point, low and high are SVG lengths, all equal without an interval."""

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
    """Return the chart of the dry runs that have a value; None if there are none."""
    cells = [(tried, tried.score(report.primary)) for tried in report.done]
    shown = [(tried, cell, cell.value) for tried, cell in cells if cell.value is not None]
    if not shown:
        return None
    scale = covering(end for _, cell, _ in shown for end in (cell.low, cell.value, cell.high) if end is not None)
    strips = [
        Strip(
            tried,
            cell,
            scale.at(value),
            scale.at(value if cell.low is None else cell.low),
            scale.at(value if cell.high is None else cell.high),
        )
        for tried, cell, value in shown
    ]
    return Plot(scale, strips)
