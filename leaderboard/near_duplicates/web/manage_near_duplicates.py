"""Management pages that list and dismiss near-duplicate predictions of different teams. For organisers only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from evaluator.similarity.thresholds import EQUAL, SHARED_ERRORS
from leaderboard.boards.queries.lookup import managed_or_404
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.models import ACTIVE, Benchmark, NearDuplicate, Phase, SimilarityCheck, State, System
from leaderboard.near_duplicates.actions import dismiss as near_duplicate_flags

SHOWN = 200
ABOUT = ("phase", "a__submission__system__team", "b__submission__system__team", "dismissed_by")


class DismissForm(forms.Form):
    """Form: the reason why the near-duplicates of two systems are dismissed."""

    reason = forms.CharField(max_length=300, help_text="Only organisers see it.")


@dataclass(frozen=True)
class Pair:
    """Two systems in a phase, with the near-duplicates between their predictions in `rows`."""

    phase: Phase
    systems: tuple[System, System]
    rows: list[NearDuplicate]


@login_required
@require_safe
def near_duplicates(request: PersonRequest, slug: str) -> HttpResponse:
    """List the open near-duplicates, grouped by pair of systems, and the dismissed ones."""
    benchmark = managed_or_404(request.user, slug)
    rows = _of(benchmark)
    waiting = SimilarityCheck.objects.filter(phase__benchmark=benchmark)
    context = {
        "benchmark": benchmark,
        "pairs": pairs(rows.filter(dismissed_at=None)[:SHOWN]),
        "dismissed": rows.exclude(dismissed_at=None).order_by("-dismissed_at")[:SHOWN],
        "shown": SHOWN,
        "n_waiting": waiting.filter(state__in=ACTIVE).count(),
        "n_failed": waiting.filter(state=State.FAILED).count(),
        "equal": EQUAL,
        "shared": SHARED_ERRORS,
    }
    return render(request, "near_duplicates/manage_near_duplicates.html", context)


@login_required
@require_http_methods(["GET", "POST"])
def dismiss(request: PersonRequest, slug: str, pk: int) -> HttpResponse:
    """Ask for a reason; a POST dismisses all open near-duplicates of the two systems of near-duplicate `pk`."""
    benchmark = managed_or_404(request.user, slug)
    near_duplicate = get_object_or_404(_of(benchmark).filter(dismissed_at=None), pk=pk)
    form, refusal = DismissForm(request.POST or None), None
    if form.is_valid():
        try:
            near_duplicate_flags.dismiss(
                near_duplicate=near_duplicate, reason=form.cleaned_data["reason"], by=request.user
            )
        except Refused as refused:
            refusal = Refusal(refused)
        else:
            messages.success(
                request, "The near-duplicates were dismissed. New ones of these two systems will be shown again."
            )
            return redirect("manage_near_duplicates", slug)
    context = {"benchmark": benchmark, "near_duplicate": near_duplicate, "form": form, "refusal": refusal}
    status = refusal.status if refusal else 422 if form.errors or request.method == "POST" else 200
    return render(request, "near_duplicates/manage_near_duplicate_dismiss.html", context, status=status)


def pairs(rows: Iterable[NearDuplicate]) -> list[Pair]:
    """Group near-duplicates by phase and pair of systems; the pairs and their rows keep the order of `rows`."""
    pair_by_key: dict[tuple[int, frozenset[int]], Pair] = {}
    for row in rows:
        a, b = row.a.submission.system, row.b.submission.system
        key = (row.phase_id, frozenset((a.pk, b.pk)))
        pair_by_key.setdefault(key, Pair(row.phase, (a, b), [])).rows.append(row)
    return list(pair_by_key.values())


def _of(benchmark: Benchmark) -> QuerySet[NearDuplicate]:
    return NearDuplicate.objects.filter(phase__benchmark=benchmark).select_related(*ABOUT)
