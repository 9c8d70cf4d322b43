"""One's teams: founding one, and each with its members, its invitations and what its owners may do."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from leaderboard.accounts.actions import invitations, membership, teams
from leaderboard.accounts.actions.invitations import Invited
from leaderboard.accounts.web.forms import InviteForm, TeamForm
from leaderboard.core.refusal import Refused
from leaderboard.core.web.access import PersonRequest
from leaderboard.core.web.refusals import Refusal
from leaderboard.models import Invitation, Membership, Submission, Team
from leaderboard.models.submission import systems_known_to


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
                return redirect("team", team.pk)
    mine = (
        Team.objects.filter(pk__in=request.user.teams.values("pk"))
        .annotate(n_systems=Count("systems", filter=Q(systems__in=systems_known_to(request.user)), distinct=True))
        .prefetch_related("members")
        .order_by("name")
    )
    return render(request, "accounts/teams.html", {"form": form, "teams": mine}, status=status)


@login_required
@never_cache
@require_safe
def team(request: PersonRequest, pk: int) -> HttpResponse:
    """For members: who belongs to it, and for owners whom they invited."""
    return _page(request, own_or_404(request, pk))


@login_required
@never_cache
@require_POST
def invite(request: PersonRequest, pk: int) -> HttpResponse:
    """The link goes by mail, or is shown here, this once."""
    found, form = own_or_404(request, pk), InviteForm(request.POST)
    if not form.is_valid():
        return _page(request, found, form=form)
    try:
        invited = invitations.invite(team=found, address=form.cleaned_data["address"], by=request.user)
    except Refused as refused:
        return _page(request, found, refusal=Refusal(refused))
    if invited.link:
        return _page(request, found, invited=invited)
    messages.success(request, f"An invitation is on its way to {invited.invitation.address}.")
    return redirect("team", pk)


@login_required
@require_POST
def revoke(request: PersonRequest, pk: int, invitation: int) -> HttpResponse:
    found = own_or_404(request, pk)
    asked = get_object_or_404(Invitation.objects.select_related("team"), team=found, pk=invitation)
    return _done(request, found, "The link works no more.", invitations.revoke, invitation=asked)


@login_required
@require_POST
def leave(request: PersonRequest, pk: int) -> HttpResponse:
    found = own_or_404(request, pk)
    return _done(request, found, f"You have left {found}.", membership.leave, after="my_teams", team=found)


@login_required
@require_POST
def transfer(request: PersonRequest, pk: int, member: int) -> HttpResponse:
    found = own_or_404(request, pk)
    person = get_object_or_404(found.members, pk=member)
    said = f"{person.username} owns {found} from here on."
    return _done(request, found, said, membership.transfer, team=found, to=person)


@login_required
@require_POST
def remove(request: PersonRequest, pk: int, member: int) -> HttpResponse:
    found = own_or_404(request, pk)
    person = get_object_or_404(found.members, pk=member)
    said = f"{person.username} is no member any more."
    return _done(request, found, said, membership.remove, team=found, member=person)


@login_required
@require_POST
def delete(request: PersonRequest, pk: int) -> HttpResponse:
    found = own_or_404(request, pk)
    return _done(request, found, f"The team {found} is deleted.", membership.delete, after="my_teams", team=found)


def own_or_404(request: PersonRequest, pk: int) -> Team:
    """A team of the person's own; another's is not told from one that is not there."""
    return get_object_or_404(request.user.teams, pk=pk)


def _done(request: PersonRequest, found: Team, said: str, act: Any, *, after: str = "", **what: Any) -> HttpResponse:
    try:
        act(by=request.user, **what)
    except Refused as refused:
        return _page(request, found, refusal=Refusal(refused))
    messages.success(request, said)
    return redirect(after) if after else redirect("team", found.pk)


def _page(
    request: PersonRequest,
    found: Team,
    *,
    form: InviteForm | None = None,
    refusal: Refusal | None = None,
    invited: Invited | None = None,
) -> HttpResponse:
    told = Submission.objects.visible_to(request.user)
    places = list(Membership.objects.filter(team=found).select_related("user").order_by("-is_owner", "user__username"))
    is_owner = any(place.is_owner and place.user_id == request.user.pk for place in places)
    context = {
        "team": found,
        "places": places,
        "is_owner": is_owner,
        "is_last_owner": is_owner and sum(place.is_owner for place in places) == 1,
        "invitations": invitations.open_ones(found) if is_owner else [],
        "may_delete": is_owner and not Submission.objects.filter(system__team=found).exists(),
        "systems": systems_known_to(request.user)
        .filter(team=found)
        .annotate(n_submissions=Count("submissions", filter=Q(submissions__in=told))),
        "form": form or InviteForm(),
        "invited": invited,
        "refusal": refusal,
        "days": invitations.LASTS.days,
        "sends_mail": settings.SENDS_MAIL,
    }
    status = refusal.status if refusal else 422 if form and form.errors else 200
    return render(request, "accounts/team.html", context, status=status)
