"""Public pages of teams, and of people who have made their profile public."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import conditional_page, require_safe

from leaderboard.accounts.queries import orcid
from leaderboard.boards.queries.system_history import BoardEntry, named_standings, public_entries_of
from leaderboard.models import Profile, System, Team


@dataclass(frozen=True)
class TeamSystem:
    """A system of a team, with its entries on boards, at least one."""

    system: System
    entries: list[BoardEntry]


@require_safe
@conditional_page
def team(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a team's systems, and those of its members who have made their profile public.

    404 if no board shows a system of the team by its name to everybody. All viewers see the same systems and members.
    """
    target = get_object_or_404(Team, pk=pk)
    entries_by_system: dict[int, TeamSystem] = {}
    for entry in public_entries_of(target):
        system = entry.standing.system
        entries_by_system.setdefault(system.pk, TeamSystem(system, [])).entries.append(entry)
    if not entries_by_system:
        raise Http404("no such team")
    context = {
        "public_team": target,
        "initials": initials(target.name),
        "systems": sorted(entries_by_system.values(), key=lambda row: row.system.name.casefold()),
        "members": [(member, initials(member.name)) for member in orcid.public_members(target)],
        "is_member": request.user.is_authenticated and target.members.filter(pk=request.user.pk).exists(),
    }
    return render(request, "systems/team.html", context)


@require_safe
@conditional_page
def person(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a public profile with the user's teams that have a public page. 404 if the profile is not public."""
    profile = get_object_or_404(
        orcid.with_verification(Profile.objects.all()), pk=pk, is_public=True, user__is_active=True
    )
    teams = Team.objects.filter(Exists(named_standings().filter(system__team=OuterRef("pk"))), members=pk)
    context = {"profile": profile, "initials": initials(profile.name), "teams": teams.order_by("name")}
    return render(request, "systems/person.html", context)


def initials(name: str) -> str:
    """Return the first characters of a name's first and last words, in upper case; empty for an empty name."""
    words = name.split()
    return "".join(word[0] for word in words[:1] + words[1:][-1:]).upper()
