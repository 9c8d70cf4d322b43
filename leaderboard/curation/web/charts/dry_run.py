"""The picture of a dry run: each baseline's primary measure on its interval, all on one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.core.web.scale import Scale, covering
from leaderboard.curation.queries.dry_run_report import Cell, Trial, Tried


@dataclass(frozen=True)
class Strip:
    """One baseline's line; places are SVG lengths. No interval: the whisker has no width."""

    one: Tried
    cell: Cell
    point: str
    low: str
    high: str


@dataclass(frozen=True)
class Plot:
    scale: Scale
    strips: Sequence[Strip]


def plot(trial: Trial) -> Plot | None:
    """Those that have a value; None where there is none."""
    cells = [(one, one.cell(trial.primary)) for one in trial.done]
    shown = [(one, cell, cell.value) for one, cell in cells if cell.value is not None]
    if not shown:
        return None
    scale = covering(end for _, cell, _ in shown for end in (cell.low, cell.value, cell.high) if end is not None)
    strips = [
        Strip(
            one,
            cell,
            scale.at(value),
            scale.at(value if cell.low is None else cell.low),
            scale.at(value if cell.high is None else cell.high),
        )
        for one, cell, value in shown
    ]
    return Plot(scale, strips)
