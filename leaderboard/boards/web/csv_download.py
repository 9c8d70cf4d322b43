"""Download of a page's table as CSV that is safe from formula injection."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from django.http import HttpResponse

from leaderboard.boards.api.csv import escape_formula
from leaderboard.boards.queries import Board


def as_csv(board: Board, name: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> HttpResponse:
    """Return a table as a CSV attachment, in which a spreadsheet runs no text as a formula.

    name: part of the file name. heads: column headings, which are written as they are.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(heads)
    for row in rows:
        writer.writerow([escape_formula(cell) if isinstance(cell, str) else cell for cell in row])
    version = "gold-{}-task-{}-".format(*board.frozen) if board.frozen else ""
    filename = f"{board.phase.benchmark.slug}-{board.phase.slug}-{version}{name}.csv"
    return HttpResponse(
        buffer.getvalue(),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{filename}"'},
    )
