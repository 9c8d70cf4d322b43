"""Page to rename a team or a system."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.models import System, Team
from leaderboard.systems.actions import rename
from leaderboard.systems.web.edit import own_or_404
from leaderboard.systems.web.forms import RenameForm


@login_required
@require_http_methods(["GET", "POST"])
def rename_team(request: PersonRequest, pk: int) -> HttpResponse:
    team = get_object_or_404(request.user.teams, pk=pk)
    return _page(request, team, "team", lambda name: rename.rename_team(team=team, name=name, by=request.user))


@login_required
@require_http_methods(["GET", "POST"])
def rename_system(request: PersonRequest, pk: int) -> HttpResponse:
    system = own_or_404(request, pk)
    return _page(
        request, system, "system", lambda name: rename.rename_system(system=system, name=name, by=request.user)
    )


def _page(request: PersonRequest, row: Team | System, noun: str, act: Any) -> HttpResponse:
    """Show the form; a POST renames `row` and redirects to its page.

    noun: "team" or "system", also the name of the page's URL. act: function of the new name that renames `row`, or
    raises Refused.
    """
    form, status = RenameForm(request.POST or None, initial={"name": row.name}), 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            try:
                act(form.cleaned_data["name"])
            except Refused as refused:
                form.add_error("name", refused.message)
                status = refused.code.status
            else:
                messages.success(request, "The new name is on all boards.")
                return redirect(noun, row.pk)
    return render(request, "systems/rename.html", {"row": row, "noun": noun, "form": form}, status=status)
