"""Page on which organisers choose the facts of systems that a benchmark asks for."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.boards.actions import facts as actions
from leaderboard.boards.queries.lookup import managed_or_404
from leaderboard.boards.web.forms.facts import FactsFormSet, entered
from leaderboard.core.web.access import PersonRequest


@login_required
@require_http_methods(["GET", "POST"])
def manage_facts(request: PersonRequest, slug: str) -> HttpResponse:
    """Show the form with the facts of a benchmark; save them on POST."""
    benchmark = managed_or_404(request.user, slug)
    form = FactsFormSet(request.POST if request.method == "POST" else None, initial=benchmark.facts)
    if form.is_valid():
        actions.change(benchmark=benchmark, new_facts=entered(form), by=request.user)
        messages.success(request, "The facts were saved.")
        return redirect("manage_benchmark", slug)
    context = {"benchmark": benchmark, "form": form}
    return render(request, "boards/manage_facts.html", context, status=422 if form.is_bound else 200)
