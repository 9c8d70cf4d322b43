"""Management page to begin a new split: raw files of the benchmark's dataset, and the generators of its task."""

from __future__ import annotations

from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from evaluator.curation.generators.catalog import OFFERS, generators_for
from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries.lookup import managed_or_404
from leaderboard.core import chunked_upload
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.core.web.upload import check_upload
from leaderboard.curation.actions import raw_files, request_preview
from leaderboard.curation.web.forms import RawForm
from leaderboard.datasets.web import steps
from leaderboard.models import Benchmark, RawUpload


@login_required
@require_http_methods(["GET", "POST"])
def new_split(request: PersonRequest, slug: str) -> HttpResponse:
    """Show raw files, generators and previews; a POST stores a raw file.

    The POST contains the file, or in `upload` the id of a complete chunked upload.
    """
    benchmark = managed_or_404(request.user, slug)
    if request.method == "GET":
        initial = {"upload": request.GET.get("upload")}
        return _page(request, benchmark, RawForm(user=request.user, dataset=benchmark.dataset, initial=initial))
    form = RawForm(request.POST, request.FILES, user=request.user, dataset=benchmark.dataset)
    try:
        check_upload(request)
        if not form.is_valid():
            return _page(request, benchmark, form, status=422)
        if upload := form.cleaned_data["upload"]:
            raw = raw_files.finish(upload=upload, by=request.user)
        else:
            raw = raw_files.add(dataset=benchmark.dataset, file=form.cleaned_data["file"], by=request.user)
    except Refused as refused:
        return _page(request, benchmark, form, refused)
    messages.success(request, f"The raw file {raw.name} was added.")
    return redirect("manage_new_split", slug)


@login_required
@require_POST
def remove(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    """Delete an unused raw file."""
    benchmark = managed_or_404(request.user, slug)
    raw = get_object_or_404(benchmark.dataset.raw_files.select_related("dataset"), pk=pk)
    try:
        raw_files.remove(raw=raw, by=request.user)
    except Refused as refused:
        return _page(request, benchmark, RawForm(user=request.user, dataset=benchmark.dataset), refused)
    messages.success(request, f"The raw file {raw.name} was removed.")
    return redirect("manage_new_split", slug)


@login_required
@require_POST
def give_up(request: PersonRequest, slug: str, pk: UUID) -> HttpResponse:
    """Discard one of the user's own unfinished uploads."""
    benchmark = managed_or_404(request.user, slug)
    upload = get_object_or_404(RawUpload, pk=pk, by=request.user, dataset=benchmark.dataset)
    chunked_upload.discard(upload)
    messages.success(request, f"The upload of {upload.name} was cancelled.")
    return redirect("manage_new_split", slug)


def _page(
    request: PersonRequest, benchmark: Benchmark, form: RawForm, refused: Refused | None = None, status: int = 200
) -> HttpResponse:
    dataset = benchmark.dataset
    uploads = list(RawUpload.objects.filter(by=request.user, dataset=dataset))
    generations = dataset.generations.select_related("requested_by").prefetch_related("parts__split", "sources__raw")
    raws = list(dataset.raw_files.select_related("uploaded_by").annotate(n_uses=Count("uses")))
    context = {
        "benchmark": benchmark,
        "task": TASKS[benchmark.task],
        "steps": steps.steps(benchmark, steps.GENERATOR if raws else steps.RAW),
        "raws": raws,
        "offers": generators_for(benchmark.task),
        "generations": [(generation, OFFERS.get(generation.generator)) for generation in generations],
        "max_previews": request_preview.MAX_PREVIEWS,
        "form": form,
        "uploads": uploads,
        "chosen": next((upload for upload in uploads if str(upload.pk) == str(form["upload"].value())), None),
        "most": settings.MAX_RAW_BYTES,
        "limit_mb": settings.MAX_UPLOAD_BYTES // 1_000_000,
        "raw_mb": settings.MAX_RAW_BYTES // 1_000_000,
        "refusal": Refusal(refused) if refused else None,
    }
    return render(request, "curation/manage_new_split.html", context, status=refused.code.status if refused else status)
