"""Management page of a phase's leakage budget: what its answers have shown of its hidden gold, and a forecast."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from evaluator.disclosure import bits
from leaderboard.boards.queries.lookup import managed_phase_or_404
from leaderboard.core.web.access import PersonRequest
from leaderboard.plots.specs.leakage_budget import leakage_budget as budget_plot
from leaderboard.scoring.actions import sealed_phases
from leaderboard.scoring.queries.leakage_budget import FORECAST_ANSWERS, budget_of
from leaderboard.submissions.queries.quotas import quota_of

TEAMS = 50
"""Maximum number of teams listed: those whose answers showed most."""


@login_required
@require_safe
def leakage_budget(request: PersonRequest, slug: str, phase: str) -> HttpResponse:
    """Show the leakage budget of a phase, with other phases that show scores on the same groups of the gold."""
    phase_row = managed_phase_or_404(request.user, slug, phase)
    budget = budget_of(phase_row)
    forecast = (FORECAST_ANSWERS, budget.forecast) if budget.may_go_on else None
    context = {
        "benchmark": phase_row.benchmark,
        "phase": phase_row,
        "budget": budget,
        "ahead": FORECAST_ANSWERS,
        "useful": bits.USEFUL,
        "doubt": bits.DOUBT,
        "plot": budget_plot(budget.over_time, bits.USEFUL, forecast) if budget.n_groups else None,
        "teams": budget.teams[:TEAMS],
        "quota": quota_of(phase=phase_row, team=None),
        "by_default": sealed_phases.default_finals(phase_row) if phase_row.is_sealed else [],
        "chosen": phase_row.finals.select_related("submission__system", "team", "chosen_by").order_by("team__name"),
    }
    return render(request, "benchmarks/manage_leakage_budget.html", context)
