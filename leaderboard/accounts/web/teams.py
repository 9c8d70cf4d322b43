"""The user's teams: a list, creation, and for each team its members, invitations and owners' actions."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard.accounts.actions import invitations, membership, teams
from leaderboard.accounts.actions.invitations import NewInvitation
from leaderboard.accounts.web.forms import InviteForm, TeamForm
from leaderboard.core import saved
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.reauthentication import reauthentication_required
from leaderboard.core.web.refusals import Refusal
from leaderboard.models import Invitation, Membership, Submission, Team
from leaderboard.models.submission import systems_visible_to


@login_required
@require_http_methods(["GET", "POST"])
def my_teams(request: PersonRequest) -> HttpResponse:
    """List the user's teams with their members; a POST creates a team."""
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
                messages.success(request, f"The team {team} was created.")
                return redirect("team", team.pk)
    own_teams = (
        Team.objects.filter(pk__in=request.user.teams.values("pk"))
        .annotate(n_systems=Count("systems", filter=Q(systems__in=systems_visible_to(request.user)), distinct=True))
        .prefetch_related("members")
        .order_by("name")
    )
    return render(request, "accounts/teams.html", {"form": form, "teams": own_teams}, status=status)


@login_required
@require_safe
def team(request: PersonRequest, pk: int) -> HttpResponse:
    """Show a team to its members, and its open invitations to its owners."""
    return _page(request, own_or_404(request, pk))


@login_required
@require_POST
@reauthentication_required
def invite(request: PersonRequest, pk: int) -> HttpResponse:
    """Invite a person to a team: the link is mailed, or shown once in the response."""
    own_team, form = own_or_404(request, pk), InviteForm(request.POST)
    if not form.is_valid():
        return _page(request, own_team, form=form)
    try:
        invited = invitations.invite(team=own_team, address=form.cleaned_data["address"], by=request.user)
    except Refused as refused:
        return _page(request, own_team, refusal=Refusal(refused))
    if invited.link:
        text, link = "It works once, and is shown only this time: copy it now.", reverse("team", args=[pk])
        saved.keep(request, saved.page("The invitation's link", text, link=link, secret=invited.link))
        return _page(request, own_team, invited=invited)
    messages.success(request, f"We sent an invitation to {invited.invitation.address}.")
    return redirect("team", pk)


@login_required
@require_POST
def revoke(request: PersonRequest, pk: int, invitation: int) -> HttpResponse:
    own_team = own_or_404(request, pk)
    row = get_object_or_404(Invitation.objects.select_related("team"), team=own_team, pk=invitation)
    return _done(
        request, own_team, "The invitation was withdrawn. Its link no longer works.", invitations.revoke, invitation=row
    )


@login_required
@require_POST
def leave(request: PersonRequest, pk: int) -> HttpResponse:
    own_team = own_or_404(request, pk)
    return _done(request, own_team, f"You have left {own_team}.", membership.leave, after="my_teams", team=own_team)


@login_required
@require_POST
@reauthentication_required
def close(request: PersonRequest, pk: int) -> HttpResponse:
    own_team = own_or_404(request, pk)
    message = f"The team {own_team} is closed."
    return _done(request, own_team, message, membership.close, after="my_teams", team=own_team)


@login_required
@require_POST
@reauthentication_required
def transfer(request: PersonRequest, pk: int, member: int) -> HttpResponse:
    own_team = own_or_404(request, pk)
    person = get_object_or_404(own_team.members, pk=member)
    message = f"{person.username} now owns {own_team}."
    return _done(request, own_team, message, membership.transfer, team=own_team, to=person)


@login_required
@require_POST
@reauthentication_required
def remove(request: PersonRequest, pk: int, member: int) -> HttpResponse:
    own_team = own_or_404(request, pk)
    person = get_object_or_404(own_team.members, pk=member)
    message = f"{person.username} is no longer a member."
    return _done(request, own_team, message, membership.remove, team=own_team, member=person)


@login_required
@require_POST
@reauthentication_required
def delete(request: PersonRequest, pk: int) -> HttpResponse:
    own_team = own_or_404(request, pk)
    return _done(
        request, own_team, f"The team {own_team} was deleted.", membership.delete, after="my_teams", team=own_team
    )


def own_or_404(request: PersonRequest, pk: int) -> Team:
    """Return a team of the user; another user's team is a 404 too."""
    return get_object_or_404(request.user.teams, pk=pk)


def _done(
    request: PersonRequest, own_team: Team, message: str, act: Any, *, after: str = "", **kwargs: Any
) -> HttpResponse:
    try:
        act(by=request.user, **kwargs)
    except Refused as refused:
        return _page(request, own_team, refusal=Refusal(refused))
    messages.success(request, message)
    return redirect(after) if after else redirect("team", own_team.pk)


def _page(
    request: PersonRequest,
    own_team: Team,
    *,
    form: InviteForm | None = None,
    refusal: Refusal | None = None,
    invited: NewInvitation | None = None,
) -> HttpResponse:
    visible = Submission.objects.visible_to(request.user)
    memberships = list(
        Membership.objects.filter(team=own_team).select_related("user").order_by("-is_owner", "user__username")
    )
    is_owner = any(member.is_owner and member.user_id == request.user.pk for member in memberships)
    context = {
        "team": own_team,
        "memberships": memberships,
        "is_owner": is_owner,
        "is_last_owner": is_owner and sum(member.is_owner for member in memberships) == 1,
        "invitations": invitations.open_ones(own_team) if is_owner else [],
        "may_delete": is_owner and not Submission.objects.filter(system__team=own_team).exists(),
        "systems": systems_visible_to(request.user)
        .filter(team=own_team)
        .annotate(n_submissions=Count("submissions", filter=Q(submissions__in=visible))),
        "form": form or InviteForm(),
        "invited": invited,
        "refusal": refusal,
        "days": invitations.LASTS.days,
        "sends_mail": settings.SENDS_MAIL,
    }
    status = refusal.status if refusal else 422 if form and form.errors else 200
    return render(request, "accounts/team.html", context, status=status)
