"""A board as CSV that is safe from formula injection."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import datetime

from leaderboard.boards.queries import Key, Row, label
from leaderboard.boards.queries import columns as row_columns
from leaderboard.boards.queries.columns import RowColumn

ACTIVE = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Characters that a spreadsheet may interpret as the start of a formula, full-width forms included."""


def neutral(text: str) -> str:
    """Return text that a spreadsheet does not run as a formula. For text only: numbers are written as numbers."""
    return f"'{text}" if text.startswith(ACTIVE) else text


def written(rows: Iterable[Row], keys: Sequence[Key], costs: Sequence[str]) -> str:
    """Return the CSV: leading row columns, scores, costs, trailing row columns.

    Each key has four columns: the value under the key's label, then `:low`, `:high` and `:n`. costs: of costs.KINDS.
    """
    rows = list(rows)
    before, after = row_columns.csv_columns(rows)
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    score_headings = [neutral(f"{label(key)}{part}") for key in keys for part in ("", ":low", ":high", ":n")]
    writer.writerow([*(column.name for column in before), *score_headings, *costs, *(column.name for column in after)])
    for row in rows:
        numbers = [*_numbers(row, keys), *(row.spent(kind) for kind in costs)]
        writer.writerow([*_values(row, before), *numbers, *_values(row, after)])
    return buffer.getvalue()


def _values(row: Row, columns: Iterable[RowColumn]) -> list[object]:
    return [_value(column.value(row)) for column in columns]


def _value(value: object) -> object:
    if value is None or isinstance(value, int | float):
        return value
    return neutral(value.isoformat() if isinstance(value, datetime) else str(value))


def _numbers(row: Row, keys: Sequence[Key]) -> list[object]:
    scores = (row.score(*key) for key in keys)
    return [number for score in scores for number in (score.value, score.low, score.high, score.n)]
