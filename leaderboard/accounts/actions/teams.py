"""Creation of teams and systems, explicitly or on their first submission."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from leaderboard.accounts.actions import membership
from leaderboard.core.names import names
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, Membership, System, Team, User

MOST_A_DAY = 20
"""Maximum number of teams that a user who is not a curator may create in 24 hours.

Without a limit one user could take many names.
"""


@transaction.atomic
def create(*, name: str, by: User, is_baselines: bool = False) -> Team:
    """Create a team that `by` owns.

    is_baselines: the team is for a benchmark's baselines, and its name may be one that is reserved for such teams.
    Raises Refused: INVALID_NAME for an invalid or reserved name; NAME_TAKEN if the name looks like another team's or
    another organiser's; THROTTLED if `by` is not a curator and has created MOST_A_DAY teams within 24 hours.
    """
    name = checked_name(name, by=by, is_baselines=is_baselines)
    hold_names()
    recent = AuditEntry.objects.filter(action="team.created", actor=by, at__gt=timezone.now() - timedelta(days=1))
    if recent.count() >= MOST_A_DAY and not by.is_curator:
        raise Refused(
            Code.THROTTLED,
            f"You have created {MOST_A_DAY} teams within 24 hours, the maximum; try again later.",
            heading="The team was not created",
        )
    check_free(name, by=by)
    team = Team.objects.create(name=name)
    Membership.objects.create(team=team, user=by, is_owner=True)
    AuditEntry.record("team.created", team, by=by)
    return team


def checked_name(name: str, *, by: User, is_baselines: bool = False) -> str:
    """Return a team's name with runs of spaces collapsed. Raises Refused INVALID_NAME as `create` does."""
    name = names.checked(name, of="team", longest=100)
    is_reserved = names.is_the_sites(name) and not (by.is_curator or by.benchmarks.exists())
    if is_reserved or names.is_of_deleted_account(name):
        raise Refused(Code.INVALID_NAME, f"The name {name} is reserved on leaderboards; expected another one.")
    if names.is_of_baselines(name) and not is_baselines:
        raise Refused(
            Code.INVALID_NAME, f"The name {name} is reserved for a benchmark's own baselines; expected another one."
        )
    return name


def check_free(name: str, *, by: User, but: Team | None = None) -> None:
    """Raise Refused NAME_TAKEN if a name looks like the name of an organiser, or the current or former name of a team.

    by: the user who chooses the name, which may look like this user's own. but: the team that is to be renamed, whose
    own names are allowed.
    """
    others = Team.objects.exclude(pk=but.pk) if but else Team.objects.all()
    taken = names.first_confusable(name, all_names(others))
    if taken is not None:
        raise Refused(Code.NAME_TAKEN, f"A team is or was called {taken} already; choose a name that looks different.")
    if names.first_confusable(name, _names_of_organisers(but=by)) is not None:
        raise Refused(Code.NAME_TAKEN, f"{name} looks like the name of an organiser; choose another one.")


def all_names(rows: QuerySet[Any]) -> Iterator[str]:
    """Yield the current and former names of teams or systems."""
    for name, former in rows.values_list("name", "former_names").iterator():
        yield name
        yield from (row["name"] for row in former)


def hold_names() -> None:
    """Serialize naming of teams by locking the first user's row: concurrent checks would miss each other's names."""
    User.objects.select_for_update(no_key=True).order_by("pk").first()


def _names_of_organisers(*, but: User) -> Iterator[str]:
    """Yield the user names of organisers and curators except `but`.

    Users trust these people with leaderboards, so no team may look like one of them.
    """
    organisers = User.objects.filter(Q(is_curator=True) | Q(benchmarks__isnull=False)).exclude(pk=but.pk)
    return organisers.values_list("username", flat=True).distinct().iterator()


def of(user: User) -> Team:
    """Return the team that the user joined first, without teams of baselines.

    If there is none, create a team that is named after the user. Raises Refused if that name is not allowed.
    """
    team = _of_their_own(user)
    return team or _first(user)


@transaction.atomic
def _first(user: User) -> Team:
    # The lock prevents concurrent first submissions from creating two teams with twice the quota.
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    team = _of_their_own(user)
    if team is not None:
        return team
    for name in (user.username, f"{user.username} ({user.pk})"):
        try:
            return create(name=name, by=user)
        except (Refused, IntegrityError):
            continue
    raise Refused(
        Code.NAME_TAKEN,
        f"You have no team, and no team named {user.username} could be created; create a team with another name first.",
    )


def _of_their_own(user: User) -> Team | None:
    """Return the team that the user joined first; None if there is none.

    Teams of baselines do not count: users join them as managers of a benchmark.
    """
    return user.teams.filter(baselines_of=None).order_by("membership__id").first()


def find_system(*, team: Team, name: str) -> System:
    """Return the team's system with this name; if there is none, return a new one that is not saved.

    Raises Refused for a new name: INVALID_NAME; NAME_TAKEN if another system of the team has a similar name.
    """
    matches = team.systems.filter(name=" ".join(name.split()))  # the system found has this team, not one read again
    row = None if "\0" in name else matches.first()
    if row is not None:
        return row
    name = names.checked(name, of="system", longest=200)
    similar = names.first_confusable(name, team.systems.values_list("name", flat=True))
    if similar == name:  # a simultaneous request has created the system since the first query
        return matches.get()
    if similar is not None:
        reason = f"{team} has a system called {similar}, which looks like {name}"
        raise Refused(Code.NAME_TAKEN, f"{reason}; expected exactly that name, or one that looks different.")
    check_not_former(team.systems.all(), name)
    return System(team=team, name=name)


def check_not_former(systems: QuerySet[System], name: str) -> None:
    """Raise Refused NAME_TAKEN if one of the systems formerly had a name that looks like this one."""
    for present, former in systems.exclude(former_names=[]).values_list("name", "former_names"):
        if names.first_confusable(name, (row["name"] for row in former)) is not None:
            raise Refused(
                Code.NAME_TAKEN, f"{present} had the name {name} before; expected {present}, or another name."
            )


@transaction.atomic
def system(
    *,
    team: Team,
    name: str,
    by: User,
    kind: str = System.Kind.PARTICIPANT,
    description: str = "",
    paper_url: str = "",
    code_url: str = "",
) -> System:
    """Return the team's system with this name; create it, as described, if there is none.

    Raises Refused NOT_A_MEMBER if the team was deleted, and for a
    new name: INVALID_NAME; NAME_TAKEN if another system of the team has a similar name.
    """
    # Concurrent requests would each find no similar name.
    team = membership.held(team)
    name = find_system(team=team, name=name).name
    described = {"kind": kind, "description": description, "paper_url": paper_url, "code_url": code_url}
    row, created = System.objects.get_or_create(team=team, name=name, defaults=described)
    if created:
        AuditEntry.record("system.created", row, by=by)
    return row
