"""Teams and systems come to be when somebody first competes."""

from __future__ import annotations

import unicodedata

from django.db import IntegrityError, transaction

from leaderboard.actions.refusal import Code, Refused
from leaderboard.models import AuditEntry, Membership, System, Team, User

# What turns the direction of the text after it, on the boards of everybody else.
BIDI_CONTROLS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def _checked(name: str, *, of: str, longest: int) -> str:
    """The name on one line; raises Refused INVALID_NAME for one that cannot stand on a board."""
    name = " ".join(name.split())
    if not 1 <= len(name) <= longest:
        raise Refused(Code.INVALID_NAME, f"The {of}'s name has {len(name)} characters; expected 1 to {longest}.")
    kinds = {unicodedata.category(character) for character in name}
    if "Cc" in kinds or BIDI_CONTROLS.intersection(name):
        raise Refused(Code.INVALID_NAME, f"The {of}'s name holds a control character; expected text.")
    if kinds <= {"Cf", "Zs", "Mn"}:
        raise Refused(Code.INVALID_NAME, f"The {of}'s name cannot be seen; expected text.")
    return name


@transaction.atomic
def create(*, name: str, by: User) -> Team:
    """A team with its first member, who owns it."""
    name = _checked(name, of="team", longest=100)
    if Team.objects.filter(name__iexact=name).exists():
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
    """The team's system of that name, or one that is not stored yet; raises Refused INVALID_NAME."""
    name = _checked(name, of="system", longest=200)
    return System.objects.filter(team=team, name=name).first() or System(team=team, name=name)


def system(*, team: Team, name: str, by: User, **described: str) -> System:
    """The team's system of that name, made if it is not there."""
    name = named(team=team, name=name).name
    found, created = System.objects.get_or_create(team=team, name=name, defaults=described)
    if created:
        AuditEntry.record("system.created", found, by=by)
    return found
