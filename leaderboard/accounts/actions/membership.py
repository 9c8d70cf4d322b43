"""Who belongs to a team: leaving it, being taken out of it, handing it on, and its end.

Whoever changes a team's members holds the team's row: an owner who leaves while another hands on would leave nobody.
"""

from __future__ import annotations

from django.db import transaction

from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, Membership, Notice, Submission, Team, User


def check_owner(team: Team, by: User) -> None:
    """Raises Refused NOT_AN_OWNER."""
    if not Membership.objects.filter(team=team, user=by.pk, is_owner=True).exists():
        raise Refused(Code.NOT_AN_OWNER, "Only an owner of the team may do that.")


def held(team: Team) -> Team:
    """The team with its row locked. Call in a transaction."""
    return Team.objects.select_for_update().get(pk=team.pk)


@transaction.atomic
def leave(*, team: Team, by: User) -> None:
    """What the team has and sends is no more this person's to see. Its last owner hands it on first."""
    team = held(team)
    place = Membership.objects.filter(team=team, user=by).first()
    if place is None:
        raise Refused(Code.NOT_A_MEMBER, "You are not a member of this team.")
    others = Membership.objects.filter(team=team, is_owner=True).exclude(pk=place.pk)
    if place.is_owner and not others.exists():
        raise Refused(
            Code.LAST_OWNER, "You are the team's only owner: hand it on to another member first, or delete it."
        )
    _end(place)
    AuditEntry.record("team.left", team, by=by)


@transaction.atomic
def remove(*, team: Team, member: User, by: User) -> None:
    """Take a member out. For owners, of others; what the member has submitted stays the team's."""
    team = held(team)
    check_owner(team, by)
    place = Membership.objects.filter(team=team, user=member).first()
    if place is None:
        raise Refused(Code.NOT_A_MEMBER, "That person is not a member of this team.")
    if place.user_id == by.pk:
        raise Refused(Code.LAST_OWNER, "To go yourself, leave the team.")
    _end(place)
    AuditEntry.record("team.removed", team, by=by, member=member.pk)


@transaction.atomic
def transfer(*, team: Team, to: User, by: User) -> None:
    """Another member owns the team from here on; who did stays as a member."""
    team = held(team)
    check_owner(team, by)
    if to.pk == by.pk or not Membership.objects.filter(team=team, user=to).update(is_owner=True):
        raise Refused(Code.NOT_A_MEMBER, "The new owner must be another member of the team.")
    Membership.objects.filter(team=team, user=by).update(is_owner=False)
    AuditEntry.record("team.transferred", team, by=by, to=to.pk)


@transaction.atomic
def delete(*, team: Team, by: User) -> None:
    """The end of a team that has submitted nothing; its systems go with it. For owners."""
    team = held(team)
    check_owner(team, by)
    if Submission.objects.filter(system__team=team).exists():
        raise Refused(
            Code.NOT_TAKEN,
            "The team has submitted something: it stays. Hand it on, and leave it.",
            heading="The team was not deleted",
        )
    AuditEntry.record("team.deleted", team, by=by, name=team.name)
    team.systems.all().delete()
    team.delete()


def _end(place: Membership) -> None:
    """With what was told, or is still to be told, about the team's submissions."""
    Notice.objects.filter(user=place.user_id, submission__system__team=place.team_id).delete()
    place.delete()
