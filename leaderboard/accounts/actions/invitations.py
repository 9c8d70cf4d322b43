"""Inviting people into a team by a link, and their answers.

The link's token is unguessable, works once and not for ever, and is stored as its sha256 alone. It is a bearer's: whom
an address belongs to is not looked up, so an invitation tells nothing of who has an account. Where the site has a mail
server the link is mailed and nobody else sees it; else whoever invites is shown it, once, to hand it on.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta

import structlog
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone

from leaderboard.accounts.actions import membership
from leaderboard.core.plain_text import one_line
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, Invitation, Membership, Team, User

log = structlog.get_logger(__name__)
LASTS = timedelta(days=7)
MOST_OPEN = 20
"""Of one team. Mails to strangers are what it bounds."""
MOST_A_DAY = 40
"""Of one person, over all teams, answered or not."""


@dataclass(frozen=True)
class Invited:
    """link: to be handed on by whoever invites; empty where it went by mail."""

    invitation: Invitation
    link: str


def invite(*, team: Team, address: str, by: User) -> Invited:
    """For owners. Raises Refused INVALID_NAME for what is no address, NOT_TAKEN for one invitation too many."""
    token = secrets.token_urlsafe(32)
    invitation = _invite(team=team, address=address.strip(), by=by, token=token)
    link = settings.BASE_URL + reverse("invitation", args=[token])
    # After the commit, and not through the outbox of notices: there the token would lie readable.
    mailed = settings.SENDS_MAIL and _mail(invitation, link)
    return Invited(invitation, "" if mailed else link)


@transaction.atomic
def _invite(*, team: Team, address: str, by: User, token: str) -> Invitation:
    # In this order everywhere: a person, then a team.
    User.objects.select_for_update().get(pk=by.pk)
    team = membership.held(team)
    membership.check_owner(team, by)
    try:
        validate_email(address)
    except ValidationError:
        raise Refused(Code.INVALID_NAME, "That is no mail address; expected one such as ada@example.org.") from None
    at = timezone.now()
    if open_ones(team).count() >= MOST_OPEN:
        raise Refused(
            Code.NOT_TAKEN,
            f"{MOST_OPEN} invitations of the team are open; take some back first.",
            heading="Nobody was invited",
        )
    if Invitation.objects.filter(invited_by=by, created_at__gt=at - timedelta(days=1)).count() >= MOST_A_DAY:
        raise Refused(
            Code.NOT_TAKEN,
            f"You have sent {MOST_A_DAY} invitations within a day; wait a little.",
            heading="Nobody was invited",
        )
    made = Invitation.objects.create(
        team=team,
        address=address,
        token_sha256=_digest(token),
        invited_by=by,
        created_at=at,
        expires_at=at + LASTS,
    )
    AuditEntry.record("team.invited", team, by=by, invitation=made.pk)
    return made


def open_ones(team: Team) -> QuerySet[Invitation]:
    """The team's invitations that can still be answered, as a queryset."""
    return open_of_all().filter(team=team)


def open_of_all() -> QuerySet[Invitation]:
    """The same of all teams."""
    return Invitation.objects.filter(answer=Invitation.Answer.OPEN, expires_at__gt=timezone.now())


def found(token: str) -> Invitation | None:
    """The invitation that a link leads to; None for one that is used, revoked, too old, or never was."""
    return open_of_all().select_related("team", "invited_by").filter(token_sha256=_digest(token)).first()


@transaction.atomic
def accept(*, invitation: Invitation, by: User) -> Team:
    """Its bearer is a member from here on, and owns nothing. Whoever is one already leaves the link unused."""
    team = membership.held(invitation.team)
    if Membership.objects.filter(team=team, user=by).exists():
        raise Refused(Code.NAME_TAKEN, f"You are a member of {team} already; the link still works for somebody else.")
    _answer(invitation, Invitation.Answer.ACCEPTED, by)
    Membership.objects.create(team=team, user=by)
    AuditEntry.record("team.joined", team, by=by, invitation=invitation.pk)
    return team


@transaction.atomic
def decline(*, invitation: Invitation, by: User) -> None:
    """The link is used up."""
    _answer(invitation, Invitation.Answer.DECLINED, by)
    AuditEntry.record("team.declined", invitation.team, by=by, invitation=invitation.pk)


@transaction.atomic
def revoke(*, invitation: Invitation, by: User) -> None:
    """The link works no more. For owners."""
    membership.check_owner(membership.held(invitation.team), by)
    _answer(invitation, Invitation.Answer.REVOKED, by)
    AuditEntry.record("team.invitation_revoked", invitation.team, by=by, invitation=invitation.pk)


def _answer(invitation: Invitation, answer: str, by: User) -> None:
    """Compare and swap: of two who use a link at once one is late. Raises Refused NOT_TAKEN."""
    at = timezone.now()
    waiting = Invitation.objects.filter(pk=invitation.pk, answer=Invitation.Answer.OPEN, expires_at__gt=at)
    if not waiting.update(answer=answer, answered_by=by, answered_at=at):
        raise Refused(
            Code.NOT_TAKEN, "This invitation has been answered, or is too old.", heading="This invitation is over"
        )


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _mail(invitation: Invitation, link: str) -> bool:
    team, inviter = one_line(invitation.team.name), one_line(invitation.invited_by.username)
    text = (
        f"{inviter} invites you to the team {team}.\n\n{link}\n\n"
        f"The link works once, until {invitation.expires_at:%Y-%m-%d %H:%M} UTC. If you expected nothing of the kind, "
        "let it be: nothing happens without you.\n"
    )
    try:
        send_mail(f"Invitation to the team {team}"[:200], text, None, [invitation.address])
    except OSError as error:  # what smtplib raises is one, too
        log.warning("invitation_not_sent", invitation=invitation.pk, error=type(error).__name__)
        return False
    return True
