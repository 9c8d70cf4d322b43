"""The page that an invitation's link leads to: whose team it is, and the two answers."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from leaderboard.accounts.actions import invitations
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal


@login_required
@never_cache
@require_http_methods(["GET", "POST"])
def invitation(request: PersonRequest, token: str) -> HttpResponse:
    """`answer=accept` joins, `answer=decline` uses the link up. One that is used or too old is as none at all."""
    found = invitations.found(token)
    if found is None:
        raise Http404("no such invitation")
    refusal = None
    if request.method == "POST":
        try:
            if request.POST.get("answer") == "accept":
                team = invitations.accept(invitation=found, by=request.user)
                messages.success(request, f"You are a member of {team}.")
                return redirect("team", team.pk)
            if request.POST.get("answer") == "decline":
                invitations.decline(invitation=found, by=request.user)
                messages.success(request, "The invitation is declined.")
                return redirect("my_teams")
            refusal = Refusal(Refused(Code.INVALID_NAME, "Expected one of two answers: accept or decline."))
        except Refused as refused:
            refusal = Refusal(refused)
    status = refusal.status if refusal else 200
    return render(request, "accounts/invitation.html", {"invitation": found, "refusal": refusal}, status=status)
