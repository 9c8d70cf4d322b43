"""Columns of a board's rows, declared once for JSON, its schema, CSV, LaTeX, Markdown, pages and sorting.

To add a column, add a field to `Row`, fill it in `reading.py::rows_of`, and add a line here, and its markup, if
any, to `boards/web/tables/row_cells.py`.
Scores and costs are not declared here: their number depends on the board. Citations list their own fields
(`citation.py`), since a new column must not change the digests of published boards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import Any
from uuid import UUID

from leaderboard.boards.queries.rows import Row
from leaderboard.models import Phase, System


@dataclass(frozen=True)
class RowColumn:
    """Declaration of one column of a board's rows.

    name: the column's name in JSON, CSV, `?sort=` and `?columns=`.
    kind: type of the values; `list` is a list of strings, a Django enumeration names the allowed strings.
    null: a row may have no value. help: description in the API's schema.
    attribute: the attribute of `Row` that holds the value; empty: the one called `name`.
    sortable: a table can be sorted by this column.
    csv: position in the CSV, 0 for not included; negative positions follow scores and costs, the last is -1.
    csv_if: include the column in the CSV only if this attribute of some row is set; empty: always.
    text: heading in LaTeX and Markdown; empty: not included.
    page: heading on the board's page, for columns that a viewer can hide; empty: not on the page, or always shown.
    of_tracks: True for columns that are left out on pages of phases without tracks.
    """

    name: str
    kind: type
    null: bool = False
    help: str = ""
    attribute: str = ""
    sortable: bool = False
    csv: int = 0
    csv_if: str = ""
    text: str = ""
    page: str = ""
    of_tracks: bool = False

    @property
    def is_number(self) -> bool:
        """True for a column of numbers. Pages show these before the scores, and other columns after the scores."""
        return self.kind is int

    def value(self, row: Row) -> Any:
        return getattr(row, self.attribute or self.name)


COLUMNS = (
    RowColumn(
        "rank", int, null=True, sortable=True, csv=1, text="Rank", help="null: not competing, or without a value"
    ),
    RowColumn("tied", bool),
    RowColumn(
        "rank_low",
        int,
        null=True,
        help="1 + the number of significantly better systems; null unless `rank_ranges` is ready",
    ),
    RowColumn("rank_high", int, null=True, help="number of ranked systems, minus the significantly worse"),
    RowColumn("system", str, sortable=True, csv=2, text="System"),
    RowColumn("team", str, sortable=True, csv=3, text="Team"),
    RowColumn("kind", System.Kind, csv=4, help="only participants are ranked"),
    RowColumn("description", str),
    RowColumn(
        "disqualified",
        str,
        csv=-1,
        csv_if="disqualified",
        help="the organisers' public reason; empty: it is not disqualified",
    ),
    RowColumn(
        "anonymous_until",
        datetime,
        null=True,
        help="until then the public sees a number instead of `system`; null: it is named",
    ),
    RowColumn(
        "track",
        str,
        csv=-3,
        csv_if="track",
        help="the track that its submissions declare; empty: the phase has no tracks",
    ),
    RowColumn(
        "track_rank",
        int,
        null=True,
        csv=-2,
        csv_if="track",
        page="Rank in its track",
        of_tracks=True,
        help="its rank among systems of the same track; null if `rank` is null, or without tracks",
    ),
    RowColumn("paper_url", str),
    RowColumn("code_url", str),
    RowColumn(
        "received_at",
        datetime,
        sortable=True,
        csv=6,
        page="Received",
        help="when the submission was received; a rescoring does not change it",
    ),
    RowColumn("released_at", datetime, sortable=True, csv=7, help="when these scores were published"),
    RowColumn("facts", dict, help="the facts that the benchmark asks for, as stated by the team, by name"),
    RowColumn("warnings", list),
    RowColumn("no_cost", str, help="why there is no cost; empty if there is one"),
    RowColumn("submission", UUID, attribute="submission_id", csv=5),
)
"""All columns, in the order of the JSON."""

SORTABLE = {column.name: column for column in COLUMNS if column.sortable}


def values_of(columns: Sequence[RowColumn]) -> Callable[[Row], tuple[Any, ...]]:
    """Return a function from a row to the tuple of its values in two or more columns. Faster than `RowColumn.value`."""
    return attrgetter(*(column.attribute or column.name for column in columns))


def csv_columns(rows: Sequence[Row]) -> tuple[list[RowColumn], list[RowColumn]]:
    """Return (the row columns before the scores and costs, the row columns after them) of a CSV export of `rows`."""
    columns = [
        column
        for column in sorted(COLUMNS, key=attrgetter("csv"))
        if column.csv and (not column.csv_if or any(getattr(row, column.csv_if) for row in rows))
    ]
    return [column for column in columns if column.csv > 0], [column for column in columns if column.csv < 0]


def text_columns() -> list[RowColumn]:
    """Return the columns before the scores in LaTeX and Markdown, in the order of COLUMNS."""
    return [column for column in COLUMNS if column.text]


def page_columns(phase: Phase) -> tuple[list[RowColumn], list[RowColumn]]:
    """Return (the row columns before the scores, those after the scores) that viewers can hide on the phase's pages."""
    columns = [column for column in COLUMNS if column.page and (phase.tracks or not column.of_tracks)]
    return [c for c in columns if c.is_number], [c for c in columns if not c.is_number]
