"""One's teams."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.actions import teams
from leaderboard.actions.refusal import Refused
from leaderboard.models import Team
from leaderboard.web.forms.team import TeamForm
from leaderboard.web.people.access import PersonRequest


@login_required
@require_http_methods(["GET", "POST"])
def my_teams(request: PersonRequest) -> HttpResponse:
    """The list with who belongs to each; a POST founds another."""
    form = TeamForm(request.POST or None)
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                team = teams.create(name=form.cleaned_data["name"], by=request.user)
            except Refused as refused:
                form.add_error("name", refused.message)
                status = refused.code.status
            else:
                messages.success(request, f"The team {team} is founded.")
                return redirect("my_teams")
    mine = (
        Team.objects.filter(pk__in=request.user.teams.values("pk"))
        .annotate(n_systems=Count("systems", distinct=True))
        .prefetch_related("members")
        .order_by("name")
    )
    return render(request, "people/teams.html", {"form": form, "teams": mine}, status=status)
