"""Rows and boards for tests of tables and charts, without a database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from leaderboard.boards.queries import Board, Key, Row, ShownScore
from leaderboard.models import Benchmark, GoldVersion, Phase, Split


def row(name: str, cells: Mapping[Key, ShownScore], kind: str = "participant") -> Row:
    """Return a row with a name and scores; other fields are empty."""
    at = datetime(2024, 1, 1, tzinfo=UTC)
    return Row(None, False, name, "Team", kind, "", "", "", 1, UUID(int=0), at, at, (), dict(cells))


def cells(
    measure: str, values: Mapping[tuple[tuple[str, str], ...], float | None], n: int = 4
) -> dict[Key, ShownScore]:
    """Return one measure's scores by slice, each with n units."""
    return {(measure, slice_): ShownScore(value, n=n) for slice_, value in values.items()}


def board(rows: Sequence[Row], *, task: str, dimensions: Mapping[str, Sequence[Any]], cross: str = "") -> Board:
    """Return an unsaved board of a phase that crosses two dimensions."""
    split = Split(name="test", options={}, state="published")
    phase = Phase(benchmark=Benchmark(slug="b", task=task), slug="p", split=split, options={"cross": cross})
    gold = GoldVersion(split=split, dimensions=dimensions, measures=["auroc", "average_precision"], primary="auroc")
    return Board(phase, None, gold, rows)
