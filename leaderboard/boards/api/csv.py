"""CSV export of a board, in which no cell is run as a formula by a spreadsheet."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from datetime import datetime

from leaderboard.boards.queries import NO_SCORE, Key, Row, label
from leaderboard.boards.queries import columns as row_columns
from leaderboard.boards.queries.columns import RowColumn
from leaderboard.boards.queries.facts import Fact, shown

_CELL = r"""(^|[;|\t\r\n]["\s]*)"""
"""Pattern of a cell's start: the start of the text, or a separator; with white space and quotation marks after it.

Where the decimal separator is a comma, spreadsheets separate cells at semicolons, and a quotation mark protects only a
cell that begins with it: `1,"x;=A1"` has the cells `1,"x` and `=A1"`.
"""
_FORMULA = "[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]"
"""Characters that a spreadsheet may interpret as the start of a formula, full-width forms included."""
_ESCAPABLE = re.compile(rf"{_CELL}('*)(?={_FORMULA})")


def escape_formula(text: str) -> str:
    """Return a text that no spreadsheet runs as a formula, whichever character separates its cells.

    An apostrophe is put before each start of a formula. Apostrophes that are there already stay, so that the text can
    be restored. Do not escape numbers: a negative number would become text.
    """
    return _ESCAPABLE.sub(r"\1'\2", text)


def written(rows: Iterable[Row], keys: Sequence[Key], costs: Sequence[str], facts: Sequence[Fact] = ()) -> str:
    """Return a board's rows as CSV text with one heading line.

    Columns, in this order: row columns such as rank and system, score columns, costs, facts, and row columns such as
    track.
    keys: (measure, slice) pairs. Each pair has four columns: LABEL, LABEL:low, LABEL:high and LABEL:n, which hold the
    value, the ends of its confidence interval, and the number of gold units, all empty without a score. On a ladder,
    LABEL:at_least and LABEL:at_most follow, which bound the true score.
    costs: names of the kinds of cost to include, such as wall_seconds; each has one column.
    facts: the facts that the benchmark asks for; each has one column.
    """
    rows = list(rows)
    before, after = row_columns.csv_columns(rows)
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    has_bounds = any(score.bounds is not None for row in rows for score in row.scores.values())
    parts = ("", ":low", ":high", ":n", *([":at_least", ":at_most"] if has_bounds else []))
    score_headings = [escape_formula(f"{label(key)}{part}") for key in keys for part in parts]
    writer.writerow(
        [
            *(column.name for column in before),
            *score_headings,
            *costs,
            *(fact.column for fact in facts),
            *(column.name for column in after),
        ]
    )
    for row in rows:
        numbers = [
            *_numbers(row, keys, has_bounds=has_bounds),
            *(row.cost_of(kind) for kind in costs),
            *(_fact(row, fact) for fact in facts),
        ]
        writer.writerow([*_values(row, before), *numbers, *_values(row, after)])
    return buffer.getvalue()


def _fact(row: Row, fact: Fact) -> object:
    value = row.facts.get(fact.name)
    return escape_formula(shown(value)) if isinstance(value, bool | str) else value


def _values(row: Row, columns: Iterable[RowColumn]) -> list[object]:
    return [_value(column.value(row)) for column in columns]


def _value(value: object) -> object:
    if value is None or isinstance(value, int | float):
        return value
    return escape_formula(value.isoformat() if isinstance(value, datetime) else str(value))


def _numbers(row: Row, keys: Sequence[Key], *, has_bounds: bool) -> list[object]:
    numbers: list[object] = []
    for score in (row.score(*key) for key in keys):
        numbers += (score.value, score.low, score.high, None if score is NO_SCORE else score.n)
        if has_bounds:
            numbers += (None, None) if score.bounds is None else (score.bounds.at_least, score.bounds.at_most)
    return numbers
