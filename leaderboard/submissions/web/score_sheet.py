"""Score sheet of a release: the primary measure, scores over all units, and a table for each slice dimension."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from leaderboard.models import Release

TIMES = " \N{MULTIPLICATION SIGN} "


@dataclass(frozen=True)
class ShownScore:
    """One measure on one slice. An empty slice has no value and no interval."""

    measure: str
    value: float | None
    low: float | None
    high: float | None
    n: int


Row = tuple[str, dict[str, ShownScore]]
"""A slice's value as shown, and its scores by measure."""


@dataclass(frozen=True)
class Table:
    """The slices of one dimension, or of a pair: rows of (value, largest n of its scores, one score a measure)."""

    title: str
    measures: list[str]
    rows: list[tuple[str, int, list[ShownScore | None]]]


@dataclass(frozen=True)
class Sheet:
    """All revealed scores of one submission."""

    primary: ShownScore | None
    whole: list[ShownScore]
    tables: list[Table]

    @property
    def has_intervals(self) -> bool:
        """Return whether any score has an interval: ladders reveal none, and some custom scorers have none."""
        return any(score.low is not None for score in self.whole)


def sheet(release: Release) -> Sheet:
    """Return the score sheet of a release, the primary measure first."""
    whole: list[ShownScore] = []
    sliced: dict[tuple[str, ...], dict[str, Row]] = {}
    for score in release.values:
        shown = ShownScore(**{name: score[name] for name in ("measure", "value", "low", "high", "n")})
        if not score["slice"]:
            whole.append(shown)
            continue
        values = list(score["slice"].values())
        rows = sliced.setdefault(tuple(score["slice"]), {})
        # 1 and "1" are two slices, though they are shown in the same way.
        row = rows.setdefault(json.dumps(values), (TIMES.join(map(_shown, values)), {}))
        row[1][shown.measure] = shown
    whole.sort(key=lambda shown: shown.measure != release.primary)
    primary = next((shown for shown in whole if shown.measure == release.primary), None)
    order = [shown.measure for shown in whole]
    tables = [_table(TIMES.join(names), list(rows.values()), order) for names, rows in sliced.items()]
    return Sheet(primary, whole, tables)


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
    """Return the score of the primary measure of the first release; None if there is no release."""
    for release in releases:
        return sheet(release).primary
    return None
