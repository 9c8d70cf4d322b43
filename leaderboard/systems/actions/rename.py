"""Renaming of teams and systems. Former names stay public, so that nobody can hide earlier results by a new name."""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.utils import timezone

from leaderboard.accounts.actions import membership, teams
from leaderboard.boards.actions import boards
from leaderboard.core.names import names
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, Leaderboard, System, Team, User

MOST = 5
"""Maximum number of times that a team or a system may be renamed within DAYS days."""
DAYS = 30


@transaction.atomic
def rename_team(*, team: Team, name: str, by: User) -> Team:
    """Rename a team, as one of its owners.

    Raises Refused: NOT_AN_OWNER; INVALID_NAME and NAME_TAKEN as for a new team, INVALID_NAME also for the present name;
    NOT_POSSIBLE for the team of a benchmark's baselines; THROTTLED after MOST renames within DAYS days.
    """
    teams.hold_names()
    team = membership.held(team)
    membership.check_owner(team, by)
    if hasattr(team, "baselines_of"):
        raise Refused(
            Code.NOT_POSSIBLE,
            "The team of a benchmark's baselines cannot be renamed.",
            heading="The team was not renamed",
        )
    name = teams.checked_name(name, by=by)
    teams.check_free(name, by=by, but=team)
    _rename(team, name, by=by)
    boards.revise(Leaderboard.objects.filter(standings__system__team=team))
    return team


@transaction.atomic
def rename_system(*, system: System, name: str, by: User) -> System:
    """Rename a system, as a member of its team.

    Raises Refused: NOT_A_MEMBER; INVALID_NAME for an invalid name or the present one; NAME_TAKEN if another system of
    the team has or had a name that looks similar; THROTTLED after MOST renames within DAYS days.
    """
    team = membership.held(system.team)
    system = System.objects.select_related("team").select_for_update(of=("self",)).get(pk=system.pk)
    if not team.members.filter(pk=by.pk).exists():
        raise Refused(Code.NOT_A_MEMBER, "Only members of the system's team may do this.")
    name = names.checked(name, of="system", longest=200)
    others = team.systems.exclude(pk=system.pk)
    taken = names.first_confusable(name, teams.all_names(others))
    if taken is not None:
        raise Refused(
            Code.NAME_TAKEN, f"{team} has or had a system called {taken}; choose a name that looks different."
        )
    _rename(system, name, by=by)
    boards.revise(Leaderboard.objects.filter(standings__system=system))
    return system


def _rename(row: Team | System, name: str, *, by: User) -> None:
    before, today = row.name, timezone.now()
    if name == before:
        raise Refused(Code.INVALID_NAME, f"The name is {name} already; expected another one.")
    noun = row._meta.model_name
    recent = AuditEntry.objects.filter(subject=f"{noun}:{row.pk}", action=f"{noun}.renamed")
    if recent.filter(at__gt=today - timedelta(days=DAYS)).count() >= MOST:
        raise Refused(
            Code.THROTTLED, f"This {noun} was renamed {MOST} times within {DAYS} days, the maximum; try again later."
        )
    row.former_names = [*row.former_names, {"name": before, "until": today.date().isoformat()}]
    row.name = name
    row.save(update_fields=["name", "former_names"])
    AuditEntry.record(f"{noun}.renamed", row, by=by)
