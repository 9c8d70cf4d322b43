"""Page to cite and export a board: permanent URL, reference, files, badge, embeddable frame and feed."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import conditional_page, require_safe

from leaderboard.boards.queries import MOST_ROWS, Board, by_primary
from leaderboard.boards.queries.citation import citation
from leaderboard.boards.queries.lookup import cited_board_or_404

FORMATS = (
    ("csv", "CSV", "all numbers in full precision, for programs and spreadsheets"),
    ("tex", "LaTeX", "a table for a paper, with intervals (booktabs)"),
    ("md", "Markdown", "a table for a README or an issue"),
    ("bib", "BibTeX", "the citation"),
    ("json", "Canonical JSON", "the bytes that the SHA-256 is computed from"),
)


@dataclass(frozen=True)
class File:
    """An export of the board in one format. by_slice: URL of the export with all slices; empty: there is none."""

    title: str
    about: str
    url: str
    by_slice: str = ""


@require_safe
@conditional_page
def cite(request: HttpRequest, slug: str, phase: str, **version: int) -> HttpResponse:
    """Render the page; `?system=KEY` selects the system of the badge, by default the first.

    Every viewer gets the names that the public sees: the digest is computed from these.
    """
    system = request.GET.get("system", "")
    ids = [int(system)] if system.isascii() and system.isdigit() and len(system) < 10 else []
    board = cited_board_or_404(request.user, slug, phase, ids, **version)
    context = {
        "board": board,
        "phase": board.phase,
        "benchmark": board.phase.benchmark,
        "citation": citation(board),
        "files": _files(board),
        "most": MOST_ROWS,
        "shareable": _shareable(board, system),
    }
    return render(request, "boards/cite.html", context)


def _files(board: Board) -> list[File]:
    base = f"/api/v1/benchmarks/{board.phase.benchmark.slug}/phases/{board.phase.slug}/leaderboard"
    frozen = dict(zip(("gold_version", "task_version"), board.frozen, strict=True)) if board.frozen else {}
    files = []
    for suffix, title, about in FORMATS:
        query = f"?{urlencode(frozen)}" if frozen else ""
        has_slices = board.dimensions and suffix in ("csv", "tex", "md")
        by_slice = f"{base}.{suffix}?{urlencode({**frozen, 'slices': 'all'})}" if has_slices else ""
        files.append(File(title, about, f"{base}.{suffix}{query}", by_slice))
    return files


def _shareable(board: Board, system: str) -> dict[str, str]:
    """Return URLs and names for embedding; {} if the board is empty or not public, as other sites cannot log in."""
    benchmark = board.phase.benchmark
    if benchmark.state != benchmark.State.PUBLIC or not board.rows:
        return {}
    prefix = "frozen_" if board.frozen else ""
    url_args = [benchmark.slug, board.phase.slug, *(board.frozen or ())]
    rows = by_primary(board)
    first = next((row for row in rows if row.rank is not None), rows[0])
    shown = next((row for row in rows if str(row.system_id) == system), first)
    query = urlencode({"system": shown.system, "team": shown.team})
    return {
        "badge": f"{reverse(f'{prefix}badge', args=url_args)}?{query}",
        "page": reverse(f"{prefix}board" if board.frozen else "leaderboard", args=url_args),
        "frame": reverse(f"{prefix}embed", args=url_args),
        "feed": reverse("benchmark_feed", args=[benchmark.slug]),
        "system": shown.system,
        "site": settings.BASE_URL,
    }
