"""Management page of a split: it shows state and audits, and publishes or retires the split."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from leaderboard.boards.queries.lookup import managed_split_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.datasets.actions import lifecycle
from leaderboard.datasets.queries import audit_results
from leaderboard.datasets.web import steps
from leaderboard.datasets.web.audit_status_texts import audit_progress
from leaderboard.datasets.web.forms import RetireForm
from leaderboard.models import Benchmark, Split


@login_required
@require_safe
def lifecycle_page(request: PersonRequest, slug: str, split: str) -> HttpResponse:
    """Show the split's state and the next step, without quoting gold."""
    return page(request, *managed_split_or_404(request.user, slug, split))


@login_required
@require_POST
def publish(request: PersonRequest, slug: str, split: str) -> HttpResponse:
    """Publish the split."""
    benchmark, split_row = managed_split_or_404(request.user, slug, split)
    try:
        lifecycle.publish(split=split_row, by=request.user)
    except Refused as refused:
        return page(request, benchmark, split_row, Refusal(refused))
    messages.success(request, f"The split {split_row.name} is published.")
    return redirect("manage_split", slug, split)


@login_required
@require_POST
def retire(request: PersonRequest, slug: str, split: str) -> HttpResponse:
    """Retire the split, with a public reason."""
    benchmark, split_row = managed_split_or_404(request.user, slug, split)
    form = RetireForm(request.POST)
    if not form.is_valid():
        return page(request, benchmark, split_row, form=form)
    try:
        lifecycle.retire(split=split_row, reason=form.cleaned_data["reason"], by=request.user)
    except Refused as refused:
        return page(request, benchmark, split_row, Refusal(refused))
    messages.success(request, f"The split {split_row.name} is retired; its phases accept no more submissions.")
    return redirect("manage_split", slug, split)


def page(
    request: PersonRequest,
    benchmark: Benchmark,
    split: Split,
    refusal: Refusal | None = None,
    form: RetireForm | None = None,
) -> HttpResponse:
    """Render the management page of a split.

    refusal: of the last action; None: it was not refused. form: the form to retire the split, as sent with an invalid
    reason; None: an empty form.
    """
    gold = split.current_gold
    verdict = audit_results.verdict(split)
    # Corrected gold has no audit of its own yet, although the split was published with one.
    was_audited = verdict.is_passed or bool(audit_results.public_audits(split))
    audits = list(gold.audits.select_related("requested_by", "gold")) if gold else []
    context = {
        "benchmark": benchmark,
        "split": split,
        "gold": gold,
        "verdict": verdict,
        "why_not": audit_results.why_not_published(split) if split.is_draft else "",
        "steps": _steps(split, was_audited),
        "was_audited": was_audited,
        "flow": steps.steps_of_split(benchmark, split),
        "followed": audit_progress(audits[0]) if audits else None,
        "audits": audits,
        "form": form or RetireForm(),
        "refusal": refusal,
    }
    status = refusal.status if refusal else 422 if form is not None else 200
    return render(request, "datasets/manage_split.html", context, status=status)


def _steps(split: Split, was_audited: bool) -> list[tuple[str, bool, bool]]:
    """Return (name, is done, is current) for each step of a split's lifecycle: draft, audited, published, retired.

    was_audited: the split's current gold has passed its audit, or an audit of the split is public.
    """
    names = ("draft", "audited", "published", "retired")
    current = split.state if not (split.is_draft and was_audited) else "audited"
    current_index = names.index(current)
    # A split that was published without an audit has skipped the step "audited", so that step is not shown as done.
    return [
        (name, index < current_index and (name != "audited" or was_audited), index == current_index)
        for index, name in enumerate(names)
    ]
