"""Management pages of a split's gold: list its versions, upload a version, and read a version (recorded)."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.cache import add_never_cache_headers
from django.views.decorators.http import require_GET, require_http_methods

from evaluator.curation.generators.catalog import generators_for
from evaluator.jsonl.tables import FORMATS
from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries.lookup import managed_split_or_404
from leaderboard.boards.queries.prepared_board import progress_of
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.reauthentication import reauthentication_required
from leaderboard.core.web.refusals import Refusal
from leaderboard.core.web.upload import check_upload
from leaderboard.datasets.actions import corrections, gold_tables, gold_uploads, splits
from leaderboard.datasets.web.first_lines import first_inputs, first_pairs
from leaderboard.datasets.web.forms import CorrectionForm, GoldForm
from leaderboard.models import AuditEntry, Correction, GeneratedPart, Generation, Split, State

CONTENT_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "tsv": "text/tab-separated-values; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
}


UPLOADS = 3
"""Number of large files that were not accepted, or not yet, that the page shows."""


@login_required
@require_http_methods(["GET", "POST"])
def upload(request: PersonRequest, slug: str, split: str) -> HttpResponse:
    """List the gold versions of a split, with a preview of its inputs.

    A POST adds the next gold version of a draft; for a published split it proposes a correction, to be confirmed later.
    """
    benchmark, split_row = managed_split_or_404(request.user, slug, split)
    is_correction = not split_row.is_draft and split_row.current_gold is not None
    form = (CorrectionForm if is_correction else GoldForm)(request.POST or None, request.FILES or None)
    refusal = None
    try:
        check_upload(request)
        if form.is_valid() and gold_tables.is_large(form.cleaned_data["file"]):
            file, reason = form.cleaned_data["file"], form.cleaned_data.get("reason", "")
            gold_uploads.queue(split=split_row, file=file, reason=reason, by=request.user)
            messages.success(request, "The file is large, so it is checked in the background. Its state is shown here.")
            return redirect("manage_gold", slug, split)
        if form.is_valid() and is_correction:
            correction = corrections.propose(split=split_row, by=request.user, **form.cleaned_data)
            return redirect("manage_correction", slug, split, correction.pk)
        if form.is_valid():
            gold = splits.add_gold(split=split_row, by=request.user, **form.cleaned_data)
            messages.success(request, f"Gold version {gold.number} of {split_row.name} was added.")
            return redirect("manage_gold", slug, split)
    except Refused as refused:
        refusal = Refusal(refused)
    context = {
        "benchmark": benchmark,
        "task": TASKS[benchmark.task],
        "split": split_row,
        "versions": split_row.gold_versions.select_related("created_by", "correction").order_by("-number"),
        "inputs": first_inputs(split_row),
        "rescorings": [(phase, progress_of(phase)) for phase in benchmark.phases.filter(split=split_row)],
        "is_correction": is_correction,
        "generation": _generation_of(split_row) if is_correction else None,
        "uploads": split_row.gold_uploads.exclude(state=State.DONE)[:UPLOADS],
        "pending": split_row.corrections.filter(decision=Correction.Decision.PENDING).first(),
        "form": form,
        "refusal": refusal,
    }
    status = refusal.status if refusal else 422 if form.errors else 200
    return render(request, "datasets/manage_gold.html", context, status=status)


def _generation_of(split: Split) -> Generation | None:
    """Return the generator's run from which the split was made.

    None if no generator made the split, or if that generator is no longer installed.
    """
    part = GeneratedPart.objects.filter(split=split).select_related("generation").first()
    offers = {offer.name for offer in generators_for(split.dataset.task)}
    return part.generation if part and part.generation.generator in offers else None


@login_required
@require_GET
@reauthentication_required
def read(request: PersonRequest, slug: str, split: str, number: int) -> HttpResponse:
    """Show the first lines of the inputs with the answers that a gold version adds. Curators only (404 for others).

    Each view is recorded. `?format=csv`, or another format of FORMATS, downloads the gold as a table.
    """
    if not request.user.is_curator:
        raise Http404
    benchmark, split_row = managed_split_or_404(request.user, slug, split)
    gold = get_object_or_404(split_row.gold_versions, number=number)
    kind = request.GET.get("format", "")
    if kind and kind not in FORMATS:
        raise Http404
    AuditEntry.record("gold.read", gold, by=request.user, number=number, **({"format": kind} if kind else {}))
    context = {
        "benchmark": benchmark,
        "split": split_row,
        "gold": gold,
        "pairs": first_pairs(split_row, gold),
        "formats": FORMATS,
    }
    try:
        if kind:
            filename = f"{slug}-{split}-gold-{number}.{kind}"
            return _attachment(gold_tables.table_of(gold, kind), filename)
    except Refused as refused:
        context["refusal"] = Refusal(refused)
        return render(request, "datasets/manage_gold_read.html", context, status=refused.code.status)
    return render(request, "datasets/manage_gold_read.html", context)


def _attachment(content: bytes, filename: str) -> HttpResponse:
    response = HttpResponse(
        content,
        content_type=CONTENT_TYPES[filename.rpartition(".")[2]],
        headers={"Content-Disposition": f'attachment; filename="{filename}"'},
    )
    add_never_cache_headers(response)
    return response
