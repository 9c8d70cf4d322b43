"""Score sheet of a release, the publication of a run's scores: overall scores, and a table of slices per dimension."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evaluator.disclosure.ladder import Bounds
from leaderboard.boards.disclosure.policies import is_detailed
from leaderboard.boards.queries.ladder_bounds import scores_of_release
from leaderboard.boards.queries.rows import DECIMALS
from leaderboard.boards.queries.slices import slice_of
from leaderboard.models import Phase, Release

TIMES = " \N{MULTIPLICATION SIGN} "


@dataclass(frozen=True)
class ShownScore:
    """Score on one measure, overall or on one slice.

    value: None if the measure is undefined there. low, high: ends of the score's confidence interval, None if it has
    none. n: number of gold units. bounds: on a ladder, the range of the exact score behind the rounded `value`; None:
    not known.
    """

    measure: str
    value: float | None
    low: float | None
    high: float | None
    n: int
    bounds: Bounds | None = None
    decimals: int = DECIMALS


Row = tuple[str, dict[str, ShownScore]]
"""(value of a slice as shown, the slice's scores by measure)."""


@dataclass(frozen=True)
class Table:
    """Scores on the slices of one dimension, or of a pair of dimensions.

    title: the dimension. measures: names of the columns. rows: (value of the slice, largest number of units of its
    scores, scores in the order of `measures`) of each slice; None for a measure without a score.
    """

    title: str
    measures: list[str]
    rows: list[tuple[str, int, list[ShownScore | None]]]


@dataclass(frozen=True)
class Sheet:
    """All revealed scores of one release.

    primary: overall score on the primary measure; None if it is not revealed. whole: all overall scores. is_brief: the
    phase shows only the overall score of this answer, because its team was shown others in detail before.
    """

    primary: ShownScore | None
    whole: list[ShownScore]
    tables: list[Table]
    is_brief: bool = False

    @property
    def has_intervals(self) -> bool:
        """Return whether any overall score has a confidence interval: ladders and some custom scorers show none."""
        return any(score.low is not None for score in self.whole)


def sheet(release: Release) -> Sheet:
    """Return the score sheet of a release; of the overall scores, that on the primary measure comes first."""
    whole: list[ShownScore] = []
    sliced: dict[tuple[str, ...], dict[str, Row]] = {}
    scores = scores_of_release(release)
    for score in release.values:
        bounded = scores[score["measure"], slice_of(score["slice"])]
        # Slices by the number 1 and by the text "1" have one key.
        bounds = bounded.bounds if bounded.value == score["value"] else None
        numbers = {name: score[name] for name in ("measure", "value", "low", "high", "n")}
        shown = ShownScore(**numbers, bounds=bounds, decimals=bounded.decimals)
        if not score["slice"]:
            whole.append(shown)
            continue
        values = list(score["slice"].values())
        rows = sliced.setdefault(tuple(score["slice"]), {})
        # The number 1 and the text "1" are values of different slices, though they are shown alike.
        _, by_measure = rows.setdefault(json.dumps(values), (TIMES.join(map(_shown, values)), {}))
        by_measure[shown.measure] = shown
    whole.sort(key=lambda shown: shown.measure != release.primary)
    primary = next((shown for shown in whole if shown.measure == release.primary), None)
    order = [shown.measure for shown in whole]
    tables = [_table(TIMES.join(names), list(rows.values()), order) for names, rows in sliced.items()]
    is_ladder = release.policy == Phase.Disclosure.LADDER
    is_brief = primary is not None and not is_ladder and not is_detailed(release.phase, primary)
    return Sheet(primary, whole, tables, is_brief)


def _table(title: str, rows: list[Row], order: list[str]) -> Table:
    present = {measure for _, scores in rows for measure in scores}
    measures = [measure for measure in order if measure in present] + sorted(present.difference(order))
    return Table(
        title,
        measures,
        [
            (value, max(score.n for score in scores.values()), [scores.get(measure) for measure in measures])
            for value, scores in rows
        ],
    )


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def primary_of(releases: Iterable[Release]) -> ShownScore | None:
    """Return the overall score on the primary measure of the first of `releases`; None if there is none."""
    for release in releases:
        return sheet(release).primary
    return None
