"""The revealed scores of one release, laid out: the primary measure, the whole, and a table for each dimension."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from leaderboard.models import Release

TIMES = " \N{MULTIPLICATION SIGN} "


@dataclass(frozen=True)
class Cell:
    """One measure on one slice. An empty slice has no value, and no interval."""

    measure: str
    value: float | None
    low: float | None
    high: float | None
    n: int


@dataclass(frozen=True)
class Table:
    """The slices of one dimension, or of a pair of them: rows of (value, n, cells), a cell for each measure."""

    title: str
    measures: list[str]
    rows: list[tuple[str, int, list[Cell | None]]]


@dataclass(frozen=True)
class Sheet:
    """All that a release tells of one submission."""

    primary: Cell | None
    whole: list[Cell]
    tables: list[Table]


def sheet(release: Release) -> Sheet:
    """Lay out a release."""
    whole: list[Cell] = []
    sliced: dict[tuple[str, ...], dict[str, dict[str, Cell]]] = {}
    for score in release.values:
        cell = Cell(**{name: score[name] for name in ("measure", "value", "low", "high", "n")})
        if score["slice"]:
            dimensions = tuple(score["slice"])
            row = TIMES.join(map(_shown, score["slice"].values()))
            sliced.setdefault(dimensions, {}).setdefault(row, {})[cell.measure] = cell
        else:
            whole.append(cell)
    primary = next((cell for cell in whole if cell.measure == release.primary), None)
    order = [cell.measure for cell in whole]
    tables = [_table(TIMES.join(dimensions), rows, order) for dimensions, rows in sliced.items()]
    return Sheet(primary, whole, tables)


def _table(title: str, rows: dict[str, dict[str, Cell]], order: list[str]) -> Table:
    found = {measure for cells in rows.values() for measure in cells}
    measures = [measure for measure in order if measure in found] + sorted(found.difference(order))
    return Table(
        title,
        measures,
        [
            (row, max(cell.n for cell in cells.values()), [cells.get(measure) for measure in measures])
            for row, cells in rows.items()
        ],
    )


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def primary_of(releases: Iterable[Release]) -> Cell | None:
    """The primary measure of the first release, where there is one."""
    for release in releases:
        return sheet(release).primary
    return None
