"""A board as CSV that no spreadsheet takes for formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from datetime import datetime

from leaderboard.boards.queries import Key, Row, label
from leaderboard.boards.queries import columns as row_columns
from leaderboard.boards.queries.columns import RowColumn

ACTIVE = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet may take for the start of a formula, full-width forms included."""


def neutral(text: str) -> str:
    """Text that a spreadsheet shows and does not run; numbers are written as numbers and do not come here."""
    return f"'{text}" if text.startswith(ACTIVE) else text


def written(rows: Iterable[Row], keys: Sequence[Key], costs: Sequence[str]) -> str:
    """The table: four columns a key, the value under the key's label, then `:low`, `:high` and `:n`; then `costs`, some
    of costs.KINDS. The columns of `row_columns` stand before and after."""
    rows = list(rows)
    before, after = row_columns.csv_columns(rows)
    lines = io.StringIO()
    out = csv.writer(lines)
    parts = [neutral(f"{label(key)}{part}") for key in keys for part in ("", ":low", ":high", ":n")]
    out.writerow([*(column.name for column in before), *parts, *costs, *(column.name for column in after)])
    for row in rows:
        numbers = [*_numbers(row, keys), *(row.spent(kind) for kind in costs)]
        out.writerow([*_values(row, before), *numbers, *_values(row, after)])
    return lines.getvalue()


def _values(row: Row, columns: Iterable[RowColumn]) -> list[object]:
    return [_value(column.value(row)) for column in columns]


def _value(value: object) -> object:
    if value is None or isinstance(value, int | float):
        return value
    return neutral(value.isoformat() if isinstance(value, datetime) else str(value))


def _numbers(row: Row, keys: Sequence[Key]) -> list[object]:
    cells = (row.cell(*key) for key in keys)
    return [number for cell in cells for number in (cell.value, cell.low, cell.high, cell.n)]
