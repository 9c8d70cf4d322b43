"""Preview of a draft split before it is published: inputs and gold. Each view is recorded as a view of gold."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from leaderboard.boards.queries.lookup import managed_split_or_404
from leaderboard.core.web.access import PersonRequest
from leaderboard.datasets.web import steps
from leaderboard.datasets.web.first_lines import sampled_pairs
from leaderboard.models import AuditEntry

LINES = 12


@login_required
@require_GET
def preview(request: PersonRequest, slug: str, split: str) -> HttpResponse:
    """Show LINES evenly spaced lines of a draft split's inputs with their gold. Only managers of the benchmark may.

    Raises Http404 for a split that is not a draft or has no gold.
    """
    benchmark, split_row = managed_split_or_404(request.user, slug, split)
    gold = split_row.current_gold
    if not split_row.is_draft or gold is None:
        raise Http404("the split is not a draft, or has no gold")
    AuditEntry.record("gold.read", gold, by=request.user, number=gold.number)
    context = {
        "benchmark": benchmark,
        "split": split_row,
        "gold": gold,
        "pairs": sampled_pairs(split_row, gold, LINES),
        "steps": steps.steps_of_split(benchmark, split_row),
    }
    return render(request, "datasets/manage_publish_preview.html", context)
