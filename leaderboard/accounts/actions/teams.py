"""Teams and systems come to be when somebody first competes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from leaderboard.core.names import names
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, Membership, System, Team, User

MOST_A_DAY = 20
"""Teams that one person founds: names are everybody's."""


@transaction.atomic
def create(*, name: str, by: User, is_baselines: bool = False) -> Team:
    """A team with its first member, who owns it. is_baselines: a benchmark's, whose name nobody may choose.

    Raises Refused INVALID_NAME, NAME_TAKEN where another's name looks like it, and NOT_TAKEN for one too many.
    """
    name = names.checked(name, of="team", longest=100)
    if names.is_the_sites(name) and not (by.is_curator or by.benchmarks.exists()):
        raise Refused(Code.INVALID_NAME, f"Boards call others than teams {name}; expected another name.")
    if names.is_of_baselines(name) and not is_baselines:
        raise Refused(Code.INVALID_NAME, "A benchmark's own baselines stand under such names; expected another one.")
    _hold_names()
    within = AuditEntry.objects.filter(action="team.created", actor=by, at__gt=timezone.now() - timedelta(days=1))
    if within.count() >= MOST_A_DAY and not by.is_curator:
        raise Refused(
            Code.NOT_TAKEN,
            f"You have founded {MOST_A_DAY} teams within a day; wait a little.",
            heading="The team was not founded",
        )
    taken = names.first_alike(name, Team.objects.values_list("name", flat=True).iterator())
    if taken is not None:
        raise Refused(Code.NAME_TAKEN, f"There is a team called {taken} already; choose a name that looks different.")
    if names.first_alike(name, _names_of_organisers(but=by)) is not None:
        raise Refused(Code.NAME_TAKEN, f"{name} looks like the name of an organiser; choose another one.")
    team = Team.objects.create(name=name)
    Membership.objects.create(team=team, user=by, is_owner=True)
    AuditEntry.record("team.created", team, by=by)
    return team


def _hold_names() -> None:
    """Whoever names a team holds the oldest person's row: two at once would each find no team that looks like it."""
    User.objects.select_for_update(no_key=True).order_by("pk").first()


def _names_of_organisers(*, but: User) -> Iterator[str]:
    """Of curators, too: who may say that a board is as it should be."""
    theirs = User.objects.filter(Q(is_curator=True) | Q(benchmarks__isnull=False)).exclude(pk=but.pk)
    return theirs.values_list("username", flat=True).distinct().iterator()


def of(user: User) -> Team:
    """The person's first team; one that bears their name is made if they have none."""
    team = _of_their_own(user)
    return team or _first(user)


@transaction.atomic
def _first(user: User) -> Team:
    # The lock makes two first posts at once found one team: two would have twice the quota.
    user = User.objects.select_for_update().get(pk=user.pk)
    team = _of_their_own(user)
    if team is not None:
        return team
    for name in (user.username, f"{user.username} ({user.pk})"):
        try:
            return create(name=name, by=user)
        except (Refused, IntegrityError):
            continue
    raise Refused(Code.NAME_TAKEN, f"No team could be named after {user.username}; create one first.")


def _of_their_own(user: User) -> Team | None:
    """Not one of a benchmark's baselines, in which they are as who manages it."""
    return user.teams.filter(baselines_of=None).order_by("membership__id").first()


def named(*, team: Team, name: str) -> System:
    """The team's system of that name, or one that is not stored yet; raises Refused INVALID_NAME for its name."""
    there = System.objects.filter(team=team, name=" ".join(name.split()))
    found = None if "\0" in name else there.first()
    return found or System(team=team, name=_unlike_others(team, names.checked(name, of="system", longest=200)))


def _unlike_others(team: Team, name: str) -> str:
    """The name; raises Refused NAME_TAKEN where a system of the team has one that looks like it."""
    there = names.first_alike(name, team.systems.values_list("name", flat=True))
    if there is not None:
        told = f"{team} has a system called {there}, which looks like {name}"
        raise Refused(Code.NAME_TAKEN, f"{told}; expected exactly that name, or one that looks different.")
    return name


@transaction.atomic
def system(*, team: Team, name: str, by: User, **described: str) -> System:
    """The team's system of that name, made if it is not there.

    Raises Refused INVALID_NAME, and NAME_TAKEN where another one of the team looks like it.
    """
    # Two at once would each find no name like theirs.
    team = Team.objects.select_for_update().get(pk=team.pk)
    name = named(team=team, name=name).name
    found, created = System.objects.get_or_create(team=team, name=name, defaults=described)
    if created:
        AuditEntry.record("system.created", found, by=by)
    return found
