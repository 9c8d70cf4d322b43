"""Management page of a phase's leakage budget: what its scores have revealed about its gold so far, and a forecast."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from leaderboard.benchmarks.web.charts.leakage_budget import information_chart
from leaderboard.boards.queries.lookup import managed_phase_or_404
from leaderboard.core.web.access import PersonRequest
from leaderboard.scoring.actions import sealed_phases
from leaderboard.scoring.queries.leakage_budget import FORECAST_RESULTS, budget_of, by_team, others_on
from leaderboard.submissions.queries.quotas import quota_of

TEAMS = 50
"""Maximum number of teams listed: those with the most scored submissions."""


@login_required
@require_safe
def leakage_budget(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Show the leakage budget of a phase, and other phases that reveal scores on the same groups of the gold."""
    phase_row = managed_phase_or_404(request.user, slug, phase)
    budget = budget_of(phase_row)
    teams = by_team(phase_row)
    context = {
        "benchmark": phase_row.benchmark,
        "phase": phase_row,
        "budget": budget,
        "ahead": FORECAST_RESULTS,
        "chart": information_chart(budget),
        "teams": teams[:TEAMS],
        "n_teams": len(teams),
        "others": others_on(phase_row),
        "quota": quota_of(phase=phase_row, team=None),
        "by_default": sealed_phases.default_finals(phase_row) if phase_row.is_sealed else [],
        "chosen": phase_row.finals.select_related("submission__system", "team", "chosen_by").order_by("team__name"),
    }
    return render(request, "benchmarks/manage_leakage_budget.html", context)
