"""A page's picture and its table as files: SVG that stands alone, and CSV that no spreadsheet runs."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

from django.http import HttpResponse
from django.template.loader import render_to_string

from leaderboard.boards.api.csv import neutral
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
    """The picture of a page's part in a frame with the styles that it has from the page's sheets, on white.

    width: for frames that take one.
    """
    inner = render_to_string(template, context)
    title = f"{board.phase}: {name}"
    outer = {"inner": inner, "height": height, "full_height": height + 90, "width": width, "title": title}
    return _file(render_to_string(frame, outer), board, name, "svg", "image/svg+xml")


def as_csv(board: Board, name: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> HttpResponse:
    """The table; texts are neutral."""
    lines = io.StringIO()
    out = csv.writer(lines)
    out.writerow(heads)
    for row in rows:
        out.writerow([neutral(cell) if isinstance(cell, str) else cell for cell in row])
    return _file(lines.getvalue(), board, name, "csv", "text/csv")


def _file(content: str, board: Board, name: str, suffix: str, kind: str) -> HttpResponse:
    of = "gold-{}-task-{}-".format(*board.frozen) if board.frozen else ""
    named = f"{board.phase.benchmark.slug}-{board.phase.slug}-{of}{name}.{suffix}"
    # An SVG opened in its own tab could run what it holds: it is saved, never shown from this site.
    return HttpResponse(
        content,
        content_type=f"{kind}; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{named}"'},
    )
