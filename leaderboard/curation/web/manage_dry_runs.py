"""Management pages of dry runs, which score baselines on a split before others can submit to it.

Only managers of the split can open them.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Exists, OuterRef
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries.lookup import managed_split_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.core.web.upload import check_upload
from leaderboard.curation.actions import request_dry_run, submit_baseline
from leaderboard.curation.queries import dry_run_report
from leaderboard.curation.web.charts.dry_run import plot
from leaderboard.curation.web.forms import DryRunForm
from leaderboard.datasets.web.audit_status_texts import ASK_AGAIN, FAILED
from leaderboard.datasets.web.charts.audit import slice_name
from leaderboard.models import Benchmark, DryRun, GoldVersion, Phase, Split


@login_required
@require_safe
def dry_run(request: PersonRequest, slug: str, split: str) -> HttpResponse:
    """Show the scores of a split's dry runs so far; once all have ended, also warnings about suspicious scores."""
    return _page(request, *managed_split_or_404(request.user, slug, split))


@login_required
@require_safe
def state(request: PersonRequest, slug: str, split: str) -> HttpResponse:
    """Render the progress of the dry runs. Once all have ended, the response makes the page reload."""
    benchmark, split_row = managed_split_or_404(request.user, slug, split)
    phase = _phase(request, benchmark, split_row)
    context = _context(benchmark, split_row, phase, split_row.current_gold)
    answer = render(request, "curation/manage_dry_run_state.html", context)
    if context["ask_again"] is None:
        answer["HX-Refresh"] = "true"
    return answer


@login_required
@require_POST
def begin(request: PersonRequest, slug: str, split: str) -> HttpResponse:
    """Queue dry runs of the task's trivial baselines."""
    benchmark, split_row = managed_split_or_404(request.user, slug, split)
    phase = _phase(request, benchmark, split_row)
    try:
        request_dry_run.begin(split=split_row, phase=phase, by=request.user)
    except Refused as refused:
        return _page(request, benchmark, split_row, Refusal(refused))
    return _redirect(slug, split, phase)


@login_required
@require_POST
def add(request: PersonRequest, slug: str, split: str) -> HttpResponse:
    """Queue a dry run of an uploaded predictions file, or show the file's problems."""
    benchmark, split_row = managed_split_or_404(request.user, slug, split)
    phase = _phase(request, benchmark, split_row)
    form = DryRunForm(request.POST, request.FILES)
    try:
        check_upload(request)
        if not form.is_valid():
            return _page(request, benchmark, split_row, form=form)
        row = request_dry_run.add(split=split_row, phase=phase, by=request.user, **form.cleaned_data)
    except Refused as refused:
        return _page(request, benchmark, split_row, Refusal(refused), form)
    messages.success(request, f"{row.name} is queued for scoring.")
    return _redirect(slug, split, phase)


@login_required
@require_POST
def remove(request: PersonRequest, slug: str, split: str, pk: int) -> HttpResponse:
    """Delete a dry run. A trivial baseline can be run again, an uploaded file must be uploaded again."""
    benchmark, split_row = managed_split_or_404(request.user, slug, split)
    row = get_object_or_404(DryRun, pk=pk, gold__split=split_row)
    phase = benchmark.phases.filter(slug=row.scored_as, split=split_row).first()
    gold = row.gold
    request_dry_run.remove(row=row, by=request.user)
    messages.success(request, f"{row.name} was removed.")
    return _redirect(slug, split, phase, None if gold == split_row.current_gold else gold)


@login_required
@require_POST
def submit(request: PersonRequest, slug: str, split: str, pk: int) -> HttpResponse:
    """Submit a dry run's baseline to a phase, like any system.

    The POST has the phase's slug in `to` and, if the phase has tracks, the name of one in `track`.
    """
    benchmark, split_row = managed_split_or_404(request.user, slug, split)
    row = get_object_or_404(DryRun.objects.select_related("gold__split__dataset"), pk=pk, gold__split=split_row)
    phases = benchmark.phases.filter(split=split_row).select_related("benchmark", "split__dataset")
    phase = get_object_or_404(phases, slug=request.POST.get("to", ""))
    try:
        submission = submit_baseline.submit(row=row, phase=phase, by=request.user, track=request.POST.get("track", ""))
    except Refused as refused:
        return _page(request, benchmark, split_row, Refusal(refused))
    messages.success(request, f"{row.name} was submitted to {phase.title} as a baseline.")
    return redirect(submission)


def _phase(request: PersonRequest, benchmark: Benchmark, split: Split) -> Phase | None:
    """Return the phase whose options and groups apply to the dry runs: the one with the slug in the parameter `as`.

    None if the parameter is empty: then the split's options apply, on all groups. Raises Http404 for an unknown slug.
    """
    phase_slug = request.POST.get("as") or request.GET.get("as")
    return get_object_or_404(benchmark.phases.filter(split=split), slug=phase_slug) if phase_slug else None


def _gold(request: PersonRequest, split: Split) -> GoldVersion | None:
    """Return the gold version whose dry runs are shown: the one numbered by `?gold=`, by default the current one.

    None if the split has no gold. Raises Http404 for an unknown number.
    """
    number = request.GET.get("gold")
    if number is None:
        return split.current_gold
    is_valid = number.isascii() and number.isdigit() and len(number) < 10
    return get_object_or_404(split.gold_versions, number=int(number) if is_valid else 0)


def _dry_run_versions(split: Split) -> list[GoldVersion]:
    """Return the split's gold versions that have dry runs, and the current one, newest first.

    Empty if that is only one version, so that there is nothing to choose.
    """
    rows = split.gold_versions.filter(Exists(DryRun.objects.filter(gold=OuterRef("pk")))).order_by("-number")
    versions = list(rows)
    current = split.current_gold
    if current is not None and current not in versions:
        versions.insert(0, current)
    return versions if len(versions) > 1 else []


def _redirect(slug: str, split: str, phase: Phase | None, gold: GoldVersion | None = None) -> HttpResponse:
    """Return a redirect to the page of a split's dry runs.

    slug: of the benchmark. split: its name. phase: the phase whose settings are shown; None: the split's. gold: the
    gold version to show; None: the current one.
    """
    query = ({"as": phase.slug} if phase else {}) | ({"gold": str(gold.number)} if gold else {})
    url = reverse("manage_dry_run", args=[slug, split])
    return redirect(f"{url}?{urlencode(query)}" if query else url)


def _context(benchmark: Benchmark, split: Split, phase: Phase | None, gold: GoldVersion | None) -> dict[str, Any]:
    report = dry_run_report.report_of(gold, phase) if gold is not None else None
    rows = report.runs if report else []
    return {
        "benchmark": benchmark,
        "split": split,
        "gold": gold,
        "phase": phase,
        "report": report,
        "rows": [(run, _why(run.row), *_watched(report, run)) for run in rows] if report else [],
        "n_over": sum(run.row.is_over for run in rows),
        "ask_again": None if report is None or report.is_over else ASK_AGAIN,
    }


def _watched(
    report: dry_run_report.DryRunReport, run: dry_run_report.BaselineRun
) -> tuple[str, dry_run_report.ShownScore, float | None, dry_run_report.ShownScore]:
    """Return (name of a measure, its score, its chance level or None, score of the primary measure) of a dry run.

    The measure is the one by which a trivial baseline is compared with chance; for an uploaded file, the primary one.
    """
    name = run.baseline.audited_measure if run.baseline else report.primary
    return name, run.score(name), report.knowing_nothing(run), run.score(report.primary)


def _boards(
    benchmark: Benchmark, split: Split, report: dry_run_report.DryRunReport
) -> list[tuple[Phase, list[tuple[DryRun, Any]]]]:
    """Return (phase, [(dry run, its submission to the phase or None)]) of each open phase that accepts predictions.

    Only finished dry runs whose settings are those of the phase or of the split are listed, and only phases with such
    dry runs.
    """
    phases = [
        phase
        for phase in benchmark.phases.filter(split=split).select_related("benchmark", "split")
        if submit_baseline.phase_accepts(phase)
    ]
    submissions = submit_baseline.active_submissions(benchmark) if phases else {}
    offered = [
        (
            phase,
            [
                (run.row, submissions.get((phase.pk, run.row.name)))
                for run in report.done
                if submit_baseline.is_eligible(run.row, phase)
            ],
        )
        for phase in phases
    ]
    return [(phase, rows) for phase, rows in offered if rows]


def _earlier(benchmark: Benchmark, split: Split) -> list[tuple[int, str, str]]:
    """Return (gold version's number, phase slug, phase title), newest version first, of dry runs on earlier gold.

    Only those are included that can be submitted to an open phase. Slug and title are those of the phase whose settings
    the dry runs used; empty for the split's settings.
    """
    phases = {one.slug: one for one in benchmark.phases.filter(split=split).select_related("benchmark", "split")}
    open_ones = [one for one in phases.values() if submit_baseline.phase_accepts(one)]
    rows = DryRun.objects.filter(gold__split=split).exclude(gold=split.current_gold).select_related("gold__split")
    choices = {
        (row.gold.number, row.scored_as, phases[row.scored_as].title if row.scored_as else "")
        for row in rows
        if any(submit_baseline.is_eligible(row, phase) for phase in open_ones)
    }
    return sorted(choices, key=lambda one: (-one[0], one[1]))


def _why(row: DryRun) -> str:
    return str(FAILED.get(row.reason, row.get_reason_display())) if row.reason else ""  # type: ignore[call-overload]


def _page(
    request: PersonRequest,
    benchmark: Benchmark,
    split: Split,
    refusal: Refusal | None = None,
    form: DryRunForm | None = None,
) -> HttpResponse:
    phase = _phase(request, benchmark, split)
    gold = _gold(request, split)
    context = _context(benchmark, split, phase, gold)
    report: dry_run_report.DryRunReport | None = context["report"]
    standing_names = (
        {one.row.name for one in report.runs if one.row.state in request_dry_run.STANDING and not one.is_outdated}
        if report
        else set()
    )
    context |= {
        "boards": _boards(benchmark, split, report) if report else [],
        "is_current": gold == split.current_gold,
        "dry_run_versions": _dry_run_versions(split),
        "phases": benchmark.phases.filter(split=split),
        "baselines": TASKS[benchmark.task].baselines,
        "to_make": [one for one in TASKS[benchmark.task].baselines if one.name not in standing_names],
        "why_not": request_dry_run.why_not(split),
        "earlier": _earlier(benchmark, split) if gold == split.current_gold else [],
        "warnings": report.warnings if report and report.is_over else [],
        "plot": plot(report) if report else None,
        "by_slice": [
            (slice_name(slice_), [one.score(report.primary, slice_) for one in report.done]) for slice_ in report.slices
        ]
        if report
        else [],
        "form": form or DryRunForm(),
        "limit_mb": settings.MAX_UPLOAD_BYTES // 1_000_000,
        "refusal": refusal,
    }
    status = refusal.status if refusal else 422 if form is not None else 200
    return render(request, "curation/manage_dry_run.html", context, status=status)
