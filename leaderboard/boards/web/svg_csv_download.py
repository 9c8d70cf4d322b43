"""Downloads of a page's chart as standalone SVG, and of its table as CSV that is safe from formula injection."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from django.http import HttpResponse
from django.template.loader import render_to_string

from leaderboard.boards.api.csv import escape_formula
from leaderboard.boards.queries import Board

FORMATS = ("svg", "csv")


def as_svg(
    board: Board,
    name: str,
    template: str,
    context: dict[str, Any],
    *,
    height: int,
    frame: str = "boards/charts/standalone.svg",
    width: int = 1000,
) -> HttpResponse:
    """Return a rendered template as an SVG attachment; `frame` adds the page's styles and a white background.

    name: part of the file name and the title. template, frame: template names. height, width: of the chart, in pixels;
    not every frame uses the width.
    """
    inner = render_to_string(template, context)
    title = f"{board.phase}: {name}"
    frame_context = {"inner": inner, "height": height, "full_height": height + 90, "width": width, "title": title}
    return _file(render_to_string(frame, frame_context), board, name, "svg", "image/svg+xml")


def as_csv(board: Board, name: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> HttpResponse:
    """Return a table as a CSV attachment, in which a spreadsheet runs no text as a formula.

    name: as for `as_svg`. heads: column headings, which are written as they are.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(heads)
    for row in rows:
        writer.writerow([escape_formula(cell) if isinstance(cell, str) else cell for cell in row])
    return _file(buffer.getvalue(), board, name, "csv", "text/csv")


def _file(content: str, board: Board, name: str, suffix: str, media_type: str) -> HttpResponse:
    version = "gold-{}-task-{}-".format(*board.frozen) if board.frozen else ""
    filename = f"{board.phase.benchmark.slug}-{board.phase.slug}-{version}{name}.{suffix}"
    # Always an attachment: an SVG that is opened in its own tab could run scripts on this site's origin.
    return HttpResponse(
        content,
        content_type=f"{media_type}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{filename}"'},
    )
