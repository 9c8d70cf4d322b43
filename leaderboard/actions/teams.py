"""Teams and systems come to be when somebody first competes."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from leaderboard.actions import names
from leaderboard.actions.refusal import Code, Refused
from leaderboard.models import AuditEntry, Membership, System, Team, User


@transaction.atomic
def create(*, name: str, by: User) -> Team:
    """A team with its first member, who owns it."""
    name = names.checked(name, of="team", longest=100)
    wanted = names.key(name)
    if any(names.key(taken) == wanted for taken in Team.objects.values_list("name", flat=True).iterator()):
        raise Refused(Code.NAME_TAKEN, f"There is a team called {name} already; choose another name.")
    team = Team.objects.create(name=name)
    Membership.objects.create(team=team, user=by, is_owner=True)
    AuditEntry.record("team.created", team, by=by)
    return team


def of(user: User) -> Team:
    """The person's first team; one that bears their name is made if they have none."""
    team = user.teams.order_by("membership__id").first()
    return team or _first(user)


@transaction.atomic
def _first(user: User) -> Team:
    # The lock makes two first posts at once found one team: two would have twice the quota.
    user = User.objects.select_for_update().get(pk=user.pk)
    team = user.teams.order_by("membership__id").first()
    if team is not None:
        return team
    for name in (user.username, f"{user.username} ({user.pk})"):
        try:
            return create(name=name, by=user)
        except (Refused, IntegrityError):
            continue
    raise Refused(Code.NAME_TAKEN, f"No team could be named after {user.username}; create one first.")


def named(*, team: Team, name: str) -> System:
    """The team's system of that name, or one that is not stored yet; raises Refused INVALID_NAME for its name."""
    there = System.objects.filter(team=team, name=" ".join(name.split()))
    found = None if "\0" in name else there.first()
    return found or System(team=team, name=names.checked(name, of="system", longest=200))


def system(*, team: Team, name: str, by: User, **described: str) -> System:
    """The team's system of that name, made if it is not there."""
    name = named(team=team, name=name).name
    found, created = System.objects.get_or_create(team=team, name=name, defaults=described)
    if created:
        AuditEntry.record("system.created", found, by=by)
    return found
