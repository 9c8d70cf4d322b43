"""Deletion of an account: name and mail address are erased, and scores stay on boards under "Deleted account".

The user's row stays, because submissions, quota charges and the audit log refer to it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from django.contrib.admin.models import LogEntry
from django.db import transaction
from django.db.models import F
from knox.models import AuthToken

from leaderboard.accounts.actions import account_mails, membership
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import (
    AuditEntry,
    Follow,
    Invitation,
    Leaderboard,
    Membership,
    Notice,
    Profile,
    Registration,
    Submission,
    Team,
    User,
    Webhook,
)

USERNAME = "deleted-account-{}"
TEAM = "Deleted account {}"
OF_SYSTEM = {"description": "", "paper_url": "", "code_url": "", "bibtex": "", "former_names": []}
"""Fields of a closed team's systems that may name the person, with the values that replace them."""


@dataclass(frozen=True)
class Consequences:
    """Names of the user's teams, grouped by what happens to them when the account is deleted."""

    deleted: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    passed_on: list[tuple[str, str]] = field(default_factory=list)
    """Teams with the name of the member who becomes their owner."""
    left: list[str] = field(default_factory=list)


def consequences(user: User) -> Consequences:
    found = Consequences()
    for team in user.teams.order_by("pk"):
        heir = _heir(team, user)
        if not team.members.exclude(pk=user.pk).exists():
            (found.closed if _has_submitted(team) else found.deleted).append(team.name)
        elif heir is not None:
            found.passed_on.append((team.name, heir.user.username))
        else:
            found.left.append(team.name)
    return found


def check_may_delete(user: User) -> None:
    """Raise Refused NOT_POSSIBLE for a curator or operator, from whom another operator must first take these rights."""
    if user.is_curator or user.is_staff or user.is_superuser:
        raise Refused(
            Code.NOT_POSSIBLE,
            "You are a curator or operator of this site. Another operator must withdraw these rights before you delete "
            "the account.",
            heading="The account was not deleted",
        )


@transaction.atomic
def delete(*, user: User) -> None:
    """Delete an account at the request of its user; the caller has checked the password.

    Teams without other members are deleted, or closed and renamed if they have submissions. In a team without another
    owner, the member who joined first becomes owner. Sessions end, because the password changes. Raises Refused as
    `check_may_delete` does.
    """
    user = User.objects.select_for_update(no_key=True).get(pk=user.pk)
    check_may_delete(user)
    for number, team in enumerate(user.teams.order_by("pk"), start=1):
        _leave(membership.held(team), user, number)
    for benchmark in user.benchmarks.all():
        benchmark.organisers.remove(user)
    account_mails.tell(
        user, "Your account was deleted.", address=EmailAddress.objects.get_primary_email(user) or user.email
    )
    addresses = [user.email, *EmailAddress.objects.filter(user=user).values_list("email", flat=True)]
    # A new user name waits for all transactions that insert rows of the user: after the teams, for which submissions
    # hold locks, and before the rows are deleted.
    _empty(user)
    Invitation.objects.filter(address__in=addresses).delete()
    Invitation.objects.filter(invited_by=user, answer=Invitation.Answer.OPEN).delete()
    for model in (EmailAddress, Authenticator, SocialAccount, AuthToken, Webhook, Follow, Notice, Profile):
        model.objects.filter(user=user).delete()
    Registration.objects.filter(requested_by=user).update(message="")
    AuditEntry.record("user.deleted", user, by=user)


def _leave(team: Team, user: User, number: int) -> None:
    """End the user's membership of a team. A team without other members is deleted, or closed if it has submissions.

    number: position of the team among the user's teams, from 1. From 2 on it is part of the name of a closed team, so
    that the names differ.
    """
    row = Membership.objects.get(team=team, user=user)
    if team.members.exclude(pk=user.pk).exists():
        heir = _heir(team, user)
        if heir is not None:
            Membership.objects.filter(pk=heir.pk).update(is_owner=True)
            AuditEntry.record("team.transferred", team, by=user, to=heir.user_id)
        membership.end(row)
        return
    if not _has_submitted(team):
        team.systems.all().delete()
        team.delete()
        return
    membership.end(row)
    team.invitations.all().delete()
    team.name = TEAM.format(user.pk) + (f" ({number})" if number > 1 else "")
    team.former_names = []
    team.save(update_fields=["name", "former_names"])
    team.systems.update(**OF_SYSTEM)
    Leaderboard.objects.filter(standings__system__team=team).update(revision=F("revision") + 1)
    AuditEntry.record("team.closed", team, by=user)


def _heir(team: Team, user: User) -> Membership | None:
    """Return the member who becomes owner when the user leaves: the one who joined first.

    None if the team has another owner or no other member.
    """
    others = Membership.objects.filter(team=team).exclude(user=user).select_related("user").order_by("pk")
    return None if others.filter(is_owner=True).exists() else others.first()


def _has_submitted(team: Team) -> bool:
    return Submission.objects.filter(system__team=team).exists()


def _empty(user: User) -> None:
    user.username = USERNAME.format(user.pk)
    user.email = f"{user.username}@invalid"
    user.first_name = user.last_name = ""
    user.is_active, user.last_login = False, None
    user.mailed_since = user.news_mailed_since = None
    user.set_unusable_password()
    user.save()
    admin_entries = LogEntry.objects.filter(content_type__model="user", object_id=str(user.pk))
    admin_entries.update(object_repr=user.username, change_message="")
