"""Team invitations by link: invite, accept, decline, revoke.

The link's token is unguessable, expires, works once, and only its SHA-256 is stored. If the site has a mail server, the
link is mailed and shown to nobody, and only an account with the invited address, verified, may answer. Otherwise no
account has a verified address: the link is shown once to the inviter, and whoever gets it may answer. The invited
address is never looked up when an invitation is created, so an invitation does not reveal who has an account.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from datetime import timedelta

import structlog
from allauth.account.models import EmailAddress
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import send_mail
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac

from leaderboard.accounts.actions import membership
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.text.mail_text import check_address, quoted
from leaderboard.models import AuditEntry, Invitation, Membership, Team, User

log = structlog.get_logger(__name__)
LASTS = timedelta(days=7)
MOST_OPEN = 20
"""Maximum number of a team's unanswered invitations, so that few mails are sent to strangers."""
MOST_A_DAY = 20
"""Maximum number of a user's invitations in 24 hours, over all teams, answered or not, also of deleted teams."""
MOST_TO_ADDRESS = 3
"""Maximum number of mailed invitations to an address in 24 hours, from everybody, also to deleted teams."""


@dataclass(frozen=True)
class NewInvitation:
    """A new invitation. link: the link that the inviter must pass on; empty: it was mailed to the invited person."""

    invitation: Invitation
    link: str


def invite(*, team: Team, address: str, by: User) -> NewInvitation:
    """Invite a person, by mail address, to a team.

    Raises Refused: NOT_AN_OWNER unless `by` owns the team, INVALID_VALUE for an invalid address, LIMIT_REACHED if the
    team has MOST_OPEN unanswered invitations, THROTTLED if `by` has sent MOST_A_DAY, or the address got
    MOST_TO_ADDRESS, within 24 hours.
    """
    token = secrets.token_urlsafe(32)
    invitation = _invite(team=team, address=address.strip(), by=by, token=token)
    link = settings.BASE_URL + reverse("invitation", args=[token])
    # After the commit, and not through the outbox of notices, which would store the token in the clear.
    mailed = settings.SENDS_MAIL and _mail(invitation, link)
    return NewInvitation(invitation, "" if mailed else link)


@transaction.atomic
def _invite(*, team: Team, address: str, by: User, token: str) -> Invitation:
    # Lock order everywhere: user, then team.
    User.objects.select_for_update(no_key=True).get(pk=by.pk)
    team = membership.held(team)
    membership.check_owner(team, by)
    try:
        check_address(address)
    except ValidationError:
        raise Refused(
            Code.INVALID_VALUE, f"{address[:100]!r} is not an email address; expected one like ada@example.org."
        ) from None
    at = timezone.now()
    if open_ones(team).count() >= MOST_OPEN:
        raise Refused(
            Code.LIMIT_REACHED,
            f"The team has {MOST_OPEN} unanswered invitations, the maximum; withdraw one first.",
            heading="No invitation was sent",
        )
    day = at - timedelta(days=1)
    to = salted_hmac("invited-address", _mailbox(address), algorithm="sha256").hexdigest()[:32]
    # The audit log, since the invitations of a team are deleted with it, whoever's team it was.
    of_day = AuditEntry.objects.filter(action="team.invited", at__gt=day)
    if settings.SENDS_MAIL and of_day.filter(detail__to=to).count() >= MOST_TO_ADDRESS:
        raise Refused(
            Code.THROTTLED,
            f"This address was sent {MOST_TO_ADDRESS} invitations within 24 hours, the maximum; try again later.",
            heading="No invitation was sent",
        )
    if of_day.filter(actor=by).count() >= MOST_A_DAY:
        raise Refused(
            Code.THROTTLED,
            f"You have sent {MOST_A_DAY} invitations within 24 hours, the maximum; try again later.",
            heading="No invitation was sent",
        )
    invitation = Invitation.objects.create(
        team=team,
        address=address,
        token_sha256=_digest(token),
        invited_by=by,
        created_at=at,
        expires_at=at + LASTS,
    )
    AuditEntry.record("team.invited", team, by=by, invitation=invitation.pk, to=to)
    return invitation


def _mailbox(address: str) -> str:
    """Return an address without what most mail servers ignore: case, and what follows a plus sign before the @."""
    local, _, domain = address.lower().rpartition("@")
    return f"{local.partition('+')[0]}@{domain}"


def open_ones(team: Team) -> QuerySet[Invitation]:
    """Return the team's invitations that can still be answered."""
    return open_of_all().filter(team=team)


def open_of_all() -> QuerySet[Invitation]:
    """Return all invitations that can still be answered."""
    return Invitation.objects.filter(answer=Invitation.Answer.OPEN, expires_at__gt=timezone.now())


def find(token: str) -> Invitation | None:
    """Return the invitation of the link with this token, or None if the link is used, revoked, expired or unknown."""
    return open_of_all().select_related("team", "invited_by").filter(token_sha256=_digest(token)).first()


def check_invited(invitation: Invitation, user: User) -> None:
    """Raise Refused NOT_INVITED unless the user may answer the invitation.

    If the site has a mail server, the user must have verified the invited address, which the error does not name.
    Without a mail server, any user who has the link may answer.
    """
    # Compared here, since databases also equate letters such as i and dotless i.
    verified = EmailAddress.objects.filter(user=user, verified=True).values_list("email", flat=True)
    if settings.SENDS_MAIL and invitation.address.lower() not in {address.lower() for address in verified}:
        raise Refused(
            Code.NOT_INVITED,
            f"The invitation was sent to another email address than those of {user.username}; expected the account "
            "that has verified it. Log in with that account, or add the address to this one and verify it.",
        )


@transaction.atomic
def accept(*, invitation: Invitation, by: User) -> Team:
    """Make `by` a member of the team, not an owner, and use up the link; return the team.

    Raises Refused: NOT_INVITED; ALREADY_EXISTS if `by` is a member (the link can still be used), INVITATION_GONE if
    the link is used, revoked or expired.
    """
    check_invited(invitation, by)
    team = membership.held(invitation.team)
    if Membership.objects.filter(team=team, user=by).exists():
        raise Refused(
            Code.ALREADY_EXISTS,
            f"You are already a member of {team}; the invitation stays open.",
            heading="You are already a member",
        )
    _answer(invitation, Invitation.Answer.ACCEPTED, by)
    Membership.objects.create(team=team, user=by)
    AuditEntry.record("team.joined", team, by=by, invitation=invitation.pk)
    return team


@transaction.atomic
def decline(*, invitation: Invitation, by: User) -> None:
    """Decline an invitation and use up its link.

    Raises Refused: NOT_INVITED; INVITATION_GONE if the link is used, revoked or expired.
    """
    check_invited(invitation, by)
    _answer(invitation, Invitation.Answer.DECLINED, by)
    AuditEntry.record("team.declined", invitation.team, by=by, invitation=invitation.pk)


@transaction.atomic
def revoke(*, invitation: Invitation, by: User) -> None:
    """Revoke an unanswered invitation.

    Raises Refused: NOT_AN_OWNER; INVITATION_GONE if it was answered or has expired.
    """
    membership.check_owner(membership.held(invitation.team), by)
    _answer(invitation, Invitation.Answer.REVOKED, by)
    AuditEntry.record("team.invitation_revoked", invitation.team, by=by, invitation=invitation.pk)


def _answer(invitation: Invitation, answer: str, by: User) -> None:
    """Store the answer if the invitation is still open, so that only one of two concurrent answers succeeds.

    Raises Refused INVITATION_GONE if the invitation is used, revoked or expired.
    """
    at = timezone.now()
    waiting = Invitation.objects.filter(pk=invitation.pk, answer=Invitation.Answer.OPEN, expires_at__gt=at)
    if not waiting.update(answer=answer, answered_by=by, answered_at=at):
        raise Refused(
            Code.INVITATION_GONE,
            "This invitation was already used, or has expired.",
            heading="The invitation is no longer valid",
        )


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def _mail(invitation: Invitation, link: str) -> bool:
    text = (
        f"A user of {settings.BASE_URL}/ invites you to a team there. User and team are called:\n\n"
        f"{quoted(invitation.invited_by.username)}\n{quoted(invitation.team.name)}\n\n{link}\n\n"
        f"The link works once, until {invitation.expires_at:%Y-%m-%d %H:%M} UTC. If you did not expect this, "
        "ignore this mail: nothing happens unless you use the link.\n"
    )
    try:
        send_mail("Invitation to a team", text, None, [invitation.address])
    except OSError as error:  # includes smtplib's exceptions
        log.warning("invitation_mail_failed", kind="invitation", id=str(invitation.pk), error=type(error).__name__)
        return False
    return True
