"""Management page that divides a split's groups into public and private."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.boards.queries.lookup import managed_split_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.datasets.actions import partition_gold
from leaderboard.datasets.web.forms import PublicPrivateForm
from leaderboard.models import PublicPrivatePartition


@login_required
@require_http_methods(["GET", "POST"])
def public_private(request: PersonRequest, slug: str, split: str) -> HttpResponse:
    """Show the public/private split of the current gold; a POST creates it, which is possible only once."""
    benchmark, split_row = managed_split_or_404(request.user, slug, split)
    form = PublicPrivateForm(request.POST or None)
    refusal = None
    if form.is_valid():
        try:
            partition = partition_gold.partition(
                split=split_row, share=form.cleaned_data["share"], seed=form.cleaned_data["seed"], by=request.user
            )
        except Refused as refused:
            refusal = Refusal(refused)
        else:
            messages.success(request, f"{partition.n_public:,} groups are public, {partition.n_private:,} private.")
            return redirect("manage_public_private", slug, split)
    status = refusal.status if refusal else 422 if form.errors or request.method == "POST" else 200
    gold = split_row.current_gold
    context = {
        "benchmark": benchmark,
        "split": split_row,
        "gold": gold,
        "partition": PublicPrivatePartition.objects.filter(gold=gold).select_related("created_by").first()
        if gold
        else None,
        "form": form,
        "refusal": refusal,
    }
    return render(request, "datasets/manage_public_private.html", context, status=status)
