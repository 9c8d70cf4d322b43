"""Management page of a benchmark's custom scorers: images, measures, the phases they score, and failures."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries.lookup import managed_or_404, managed_phase_or_404
from leaderboard.containers.actions import image_uploads, scorers
from leaderboard.containers.web.forms_scorer import AttachForm, ScorerForm, example_measure
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.core.web.upload import check_upload
from leaderboard.evaluation import container_limits
from leaderboard.models import Benchmark, ImageUpload, Phase, Reason, Run, Scorer, State
from leaderboard.work_queue import worker_status

SHOWN_FAILURES = 20


@login_required
@require_http_methods(["GET", "POST"])
def scorers_page(request: PersonRequest, slug: str) -> HttpResponse:
    """Show a benchmark's custom scorers; a POST adds one from an archive, a chunked upload or a registry reference.

    slug: of the benchmark. The query parameter `upload` chooses an upload in the form.
    """
    benchmark = managed_or_404(request.user, slug)
    if request.method == "GET":
        initial = {"upload": request.GET.get("upload"), **_last(benchmark)}
        return _page(request, benchmark, ScorerForm(user=request.user, benchmark=benchmark, initial=initial))
    form = ScorerForm(request.POST, request.FILES, user=request.user, benchmark=benchmark)
    try:
        check_upload(request)
        if not form.is_valid():
            return _page(request, benchmark, form, status=422)
        scorer = _add(request, benchmark, form.cleaned_data)
    except Refused as refused:
        return _page(request, benchmark, form, refused)
    messages.success(request, f"Scorer {scorer.number} was added. It scores a phase once you set it there.")
    return redirect("manage_scorers", slug)


@login_required
@require_POST
def attach(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Set the custom scorer of a phase; an empty choice lets the benchmark's task score the phase."""
    row = managed_phase_or_404(request.user, slug, phase)
    benchmark = row.benchmark
    form = AttachForm(request.POST, phase=row)
    blank = ScorerForm(user=request.user, benchmark=benchmark, initial=_last(benchmark))
    if not form.is_valid():
        return _page(request, benchmark, blank, status=422)
    scorer = form.cleaned_data["scorer"]
    try:
        queued = scorers.attach(phase=row, scorer=scorer, by=request.user)
    except Refused as refused:
        return _page(request, benchmark, blank, refused)
    message = f"{row.title} is scored by {f'scorer {scorer.number}' if scorer else 'the task'}."
    if queued:
        message += (
            f" {queued} prediction{'s are' if queued != 1 else ' is'} being scored again; the board "
            "changes when this is done."
        )
    messages.success(request, message)
    return redirect("manage_scorers", slug)


def _add(request: PersonRequest, benchmark: Benchmark, form: dict[str, Any]) -> Scorer:
    by = request.user
    declared = scorers.Declared(measures=form["measures"], primary=form["primary"], reason=form["reason"])
    if form["upload"]:
        return image_uploads.finish_scorer(upload=form["upload"], declared=declared, by=by)
    if form.get("reference"):
        return scorers.add_reference(benchmark=benchmark, reference=form["reference"], declared=declared, by=by)
    return scorers.add_archive(benchmark=benchmark, file=form["file"], declared=declared, by=by)


def _last(benchmark: Benchmark) -> dict[str, Any]:
    """Return initial values of the form for a new scorer: the benchmark's last scorer's `measures` and `primary`.

    Without a scorer, these are an example: the first measure of the benchmark's task.
    """
    last = benchmark.scorers.order_by("-number").first()
    if last is None:
        example = example_measure(TASKS[benchmark.task])
        return {"measures": [example], "primary": example["name"]}
    return {"measures": last.measures, "primary": last.primary}


def _page(
    request: PersonRequest, benchmark: Benchmark, form: ScorerForm, refused: Refused | None = None, status: int = 200
) -> HttpResponse:
    runs = Run.objects.filter(prediction__submission__phase__benchmark=benchmark, scorer__isnull=False)
    failed = runs.filter(state=State.FAILED, reason=Reason.SCORER).select_related(
        "prediction__submission__system", "prediction__submission__phase", "scorer"
    )
    uploads = list(ImageUpload.objects.filter(by=request.user, benchmark=benchmark))
    chosen = next((upload for upload in uploads if str(upload.pk) == str(form["upload"].value())), None)
    allowed = container_limits.of_scorer()
    context = {
        "benchmark": benchmark,
        "task": TASKS[benchmark.task],
        "scorers": benchmark.scorers.select_related("image", "created_by").order_by("-number"),
        "phases": [(phase, AttachForm(phase=phase)) for phase in _phases(benchmark)],
        "failed": failed.order_by("-finished_at")[:SHOWN_FAILURES],
        "workers": worker_status.of(worker_status.SCORERS),
        "is_off": not settings.SCORERS,
        "form": form,
        "limits": allowed,
        "limit_mb": settings.MAX_UPLOAD_BYTES // 1_000_000,
        "uploads": uploads,
        "chosen": chosen,
        "refusal": Refusal(refused) if refused else None,
    }
    return render(request, "containers/manage_scorers.html", context, status=refused.code.status if refused else status)


def _phases(benchmark: Benchmark) -> list[Phase]:
    """Return the benchmark's phases, with the numbers of their runs by custom scorers that are queued or have failed.

    The numbers are in the attributes `n_waiting` and `n_failed`.
    """
    by_scorer = Q(submissions__predictions__runs__scorer__isnull=False)

    def runs(**state: Any) -> Count:
        in_state = Q(**{f"submissions__predictions__runs__{name}": value for name, value in state.items()})
        return Count("submissions__predictions__runs", filter=by_scorer & in_state, distinct=True)

    rows = benchmark.phases.select_related("benchmark", "scorer")
    return list(rows.annotate(n_waiting=runs(state=State.QUEUED), n_failed=runs(state=State.FAILED)))
