"""Downloads for organisers, as CSV: all submissions to a benchmark, all their revealed scores, a phase's exact ones."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from leaderboard.boards.api.csv import escape_formula
from leaderboard.boards.queries.lookup import managed_or_404
from leaderboard.boards.queries.slices import slice_of
from leaderboard.core.web.access import PersonRequest
from leaderboard.models import AuditEntry, Benchmark, Submission
from leaderboard.submissions.queries import exact_scores, progress

AT_ONCE = 200
"""Number of submissions that are read with their related rows at a time."""
OF_A_SUBMISSION = (
    *("submission", "received_at", "phase", "system", "team", "system_kind", "submitted_by", "kind", "track", "note"),
    *("state", "reason", "refunded", "hidden", "final", "gold_version", "measure", "value", "low", "high", "n"),
)
OF_A_SCORE = ("submission", "phase", "system", "team", "gold_version", "measure", "slice", "value", "low", "high", "n")
NUMBERS = ("value", "low", "high", "n")
Cells = Iterable[object]


@login_required
@require_safe
def submissions_csv(request: PersonRequest, slug: str) -> HttpResponseBase:
    """Send a CSV file with a line per submission to the benchmark, with its revealed primary score."""
    return _download(request, slug, "submissions", OF_A_SUBMISSION, lambda row: [_line(row)])


@login_required
@require_safe
def scores_csv(request: PersonRequest, slug: str) -> HttpResponseBase:
    """Send a CSV file with a line per revealed score: of each submission, measure and slice."""
    return _download(request, slug, "scores", OF_A_SCORE, _score_lines)


@login_required
@require_safe
def exact_scores_csv(request: PersonRequest, slug: str, phase: str) -> HttpResponseBase:
    """Send a CSV file with the exact scores of a phase: a line for each submission, gold version, measure and slice."""
    return exact_scores_file(request, slug, phase)


def exact_scores_file(request: Any, slug: str, phase: str) -> HttpResponseBase:
    """Return the exact scores of a phase as a CSV file; raises Http404 unless the user manages the benchmark."""
    benchmark = managed_or_404(request.user, slug)
    row = get_object_or_404(benchmark.phases.all(), slug=phase)
    if request.method == "GET":
        AuditEntry.record("submissions.downloaded", benchmark, by=request.user, file=f"{phase}-exact-scores")
    lines = ([*{**score, "slice": _slice_names(score["slice"])}.values()] for score in exact_scores.of_phase(row))
    return _file(f"{slug}-{phase}-exact-scores.csv", exact_scores.COLUMNS, lines)


def _download(
    request: PersonRequest,
    slug: str,
    name: str,
    columns: tuple[str, ...],
    lines_of: Callable[[progress.Progress], Iterable[Cells]],
) -> HttpResponseBase:
    benchmark = managed_or_404(request.user, slug)
    if request.method == "GET":
        AuditEntry.record("submissions.downloaded", benchmark, by=request.user, file=name)
    lines = (cells for row in _all(benchmark) for cells in lines_of(row))
    return _file(f"{slug}-{name}.csv", columns, lines)


def _file(name: str, columns: Cells, lines: Iterable[Cells]) -> HttpResponseBase:
    return StreamingHttpResponse(
        _as_csv(columns, lines),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _all(benchmark: Benchmark) -> Iterator[progress.Progress]:
    rows = progress.with_related(Submission.objects.filter(phase__benchmark=benchmark)).order_by("received_at", "pk")
    for row in rows.iterator(chunk_size=AT_ONCE):
        yield progress.of(row, for_manager=True)


def _line(row: progress.Progress) -> Cells:
    submission, scores = row.submission, _scores(row)
    primary = row.release.primary if row.release else ""
    score = next((score for score in scores if score["measure"] == primary and not score["slice"]), {})
    flags = ("yes" if flag else "no" for flag in (row.is_refunded, row.hidden, row.is_final))
    return [
        *(submission.pk, submission.received_at, *_names(submission), submission.system.kind),
        *(submission.submitted_by.username, submission.kind, submission.track, submission.note),
        *(row.state.value, row.reason.value, *flags, _gold_version(row) if scores else ""),
        *(score.get(name) for name in ("measure", *NUMBERS)),
    ]


def _score_lines(row: progress.Progress) -> Iterator[Cells]:
    for score in _scores(row):
        cells = (
            _gold_version(row),
            score["measure"],
            _slice_names(score["slice"]),
            *(score.get(name) for name in NUMBERS),
        )
        yield [row.submission.pk, *_names(row.submission), *cells]


def _slice_names(slice_: dict[str, Any]) -> str:
    return ";".join(f"{dimension}={value}" for dimension, value in slice_of(slice_))


def _scores(row: progress.Progress) -> list[dict[str, Any]]:
    """Return the scores of a submission that its phase has revealed, the same as on the submission's page."""
    return list(row.release.values) if row.release is not None and row.is_over else []


def _names(submission: Submission) -> tuple[str, str, str]:
    return submission.phase.slug, submission.system.name, submission.system.team.name


def _gold_version(row: progress.Progress) -> int | str:
    return row.run.gold_version.number if row.run else ""


def _as_csv(columns: Cells, lines: Iterable[Cells]) -> Iterator[str]:
    """Yield the lines of a CSV file, first the header `columns`.

    Texts are escaped so that no spreadsheet runs one as a formula.
    """
    writer = csv.writer(_Echo())
    yield writer.writerow(columns)
    for cells in lines:
        yield writer.writerow([_cell(value) for value in cells])


def _cell(value: object) -> object:
    if value is None or isinstance(value, int | float):
        return value
    return escape_formula(value.isoformat() if isinstance(value, datetime) else str(value))


class _Echo:
    """File object whose `write` returns the text, so that csv.writer's `writerow` returns the line."""

    def write(self, text: str) -> str:
        return text
