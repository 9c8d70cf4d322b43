"""Management page that adds a split to a benchmark's dataset by uploading its gold."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries.lookup import managed_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.core.web.upload import check_upload
from leaderboard.datasets.actions import gold_tables, gold_uploads, splits
from leaderboard.datasets.web.forms import SplitForm
from leaderboard.models import AuditEntry, Dataset, Split, User

FIRST = "First version."


@login_required
@require_http_methods(["GET", "POST"])
def create(request: PersonRequest, slug: str) -> HttpResponse:
    """Create a split with its first gold; an invalid gold file leaves no split behind.

    Large gold is checked in the background; if it is invalid, the split stays, without gold.
    """
    benchmark = managed_or_404(request.user, slug)
    form = SplitForm(request.POST or None, request.FILES or None)
    refusal = None
    try:
        check_upload(request)
        if form.is_valid():
            split = _create(benchmark.dataset, form.cleaned_data, request.user)
            is_checked = bool(split.inputs)
            outcome = ", with its gold and its inputs" if is_checked else "; its gold is large, and is being checked"
            messages.success(request, f"The split {split.name} was added{outcome}.")
            return redirect("manage_gold", slug, split.name)
    except Refused as refused:
        refusal = Refusal(refused)
    status = refusal.status if refusal else 422 if form.errors else 200
    context = {"benchmark": benchmark, "task": TASKS[benchmark.task], "form": form, "refusal": refusal}
    return render(request, "datasets/manage_split_form.html", context, status=status)


def _create(dataset: Dataset, form: dict[str, Any], by: User) -> Split:
    fields = {name: form[name] for name in ("name", "kind", "gold_public", "options")}
    split = splits.create_split(dataset=dataset, by=by, inputs_public=not form["hide_inputs"], **fields)
    try:
        if gold_tables.is_large(form["file"]):
            gold_uploads.queue(split=split, file=form["file"], reason=FIRST, by=by)
        else:
            splits.add_gold(split=split, file=form["file"], reason=FIRST, by=by)
    except Refused:
        # Validating gold takes too long for a transaction, so the split is deleted explicitly.
        AuditEntry.record("split.dropped", split, by=by)
        split.delete()
        raise
    return split
