"""The page of an invitation's link: the team, and buttons to accept or decline."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from leaderboard.accounts.actions import invitations
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal


@login_required
@require_http_methods(["GET", "POST"])
def invitation(request: PersonRequest, token: str) -> HttpResponse:
    """Show the invitation; a POST with `answer=accept` or `answer=decline` answers it and uses up the link.

    A link that is used, revoked or expired is a 404. An account that was not invited gets a 403.
    """
    row = invitations.find(token)
    if row is None:
        raise Http404("no open invitation has this token")
    try:
        invitations.check_invited(row, request.user)
    except Refused as refused:
        context = {"refusal": Refusal(refused)}
        return render(request, "accounts/invitation.html", context, status=refused.code.status)
    refusal = None
    if request.method == "POST":
        try:
            if request.POST.get("answer") == "accept":
                team = invitations.accept(invitation=row, by=request.user)
                messages.success(request, f"You are now a member of {team}.")
                return redirect("team", team.pk)
            if request.POST.get("answer") == "decline":
                invitations.decline(invitation=row, by=request.user)
                messages.success(request, "You declined the invitation.")
                return redirect("my_teams")
            refusal = Refusal(
                Refused(Code.INVALID_VALUE, "The answer is missing or unknown; expected accept or decline.")
            )
        except Refused as refused:
            refusal = Refusal(refused)
    status = refusal.status if refusal else 200
    return render(request, "accounts/invitation.html", {"invitation": row, "refusal": refusal}, status=status)
