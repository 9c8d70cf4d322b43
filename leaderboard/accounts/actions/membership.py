"""Team membership: leave, remove, transfer ownership, close or delete the team.

All actions lock the team's row. Otherwise the team could be left without an owner, for example if two owners leave at
the same time.
"""

from __future__ import annotations

from django.db import transaction

from leaderboard.accounts.actions import account_mails
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.text.mail_text import quoted
from leaderboard.models import AuditEntry, Membership, Notice, Submission, Team, User


def check_owner(team: Team, by: User) -> None:
    """Raise Refused NOT_AN_OWNER unless the user is an owner of the team."""
    if not Membership.objects.filter(team=team, user=by.pk, is_owner=True).exists():
        raise Refused(Code.NOT_AN_OWNER, f"Only an owner of the team {team} may do this.")


def held(team: Team) -> Team:
    """Return the team with its row locked. Call in a transaction. Raises Refused NOT_A_MEMBER if it was deleted."""
    row = Team.objects.select_for_update(no_key=True).filter(pk=team.pk).first()
    if row is None:
        raise Refused(Code.NOT_A_MEMBER, f"The team {team} was deleted.")
    return row


@transaction.atomic
def leave(*, team: Team, by: User) -> None:
    """End the membership of `by`, who loses access to the team's submissions.

    Raises Refused: NOT_A_MEMBER; LAST_OWNER for the only owner, who must transfer ownership first.
    """
    team = held(team)
    member = Membership.objects.filter(team=team, user=by).first()
    if member is None:
        raise Refused(Code.NOT_A_MEMBER, f"You are not a member of the team {team}.")
    others = Membership.objects.filter(team=team, is_owner=True).exclude(pk=member.pk)
    if member.is_owner and not others.exists():
        raise Refused(
            Code.LAST_OWNER,
            f"You are the only owner of {team}: transfer ownership to another member first, or close the team.",
        )
    end(member)
    AuditEntry.record("team.left", team, by=by)


@transaction.atomic
def remove(*, team: Team, member: User, by: User) -> None:
    """Remove another member from the team, which keeps the member's submissions.

    Raises Refused: NOT_AN_OWNER unless `by` owns the team; NOT_A_MEMBER; LAST_OWNER if an owner removes themselves.
    """
    team = held(team)
    check_owner(team, by)
    row = Membership.objects.filter(team=team, user=member).first()
    if row is None:
        raise Refused(Code.NOT_A_MEMBER, f"{member.username} is not a member of the team {team}.")
    if row.user_id == by.pk:
        raise Refused(Code.LAST_OWNER, "You cannot remove yourself; leave the team instead.")
    end(row)
    account_mails.tell(by, f"You removed a member of a team:\n\n{quoted(f'{member.username} of {team}')}")
    AuditEntry.record("team.removed", team, by=by, member=member.pk)


@transaction.atomic
def transfer(*, team: Team, to: User, by: User) -> None:
    """Transfer ownership from `by` to another member; `by` stays as a member.

    Raises Refused: NOT_AN_OWNER unless `by` owns the team; NOT_A_MEMBER unless `to` is another member.
    """
    team = held(team)
    check_owner(team, by)
    if to.pk == by.pk:
        raise Refused(Code.NOT_A_MEMBER, f"You already own {team}; expected another member as the new owner.")
    if not Membership.objects.filter(team=team, user=to).update(is_owner=True):
        raise Refused(
            Code.NOT_A_MEMBER, f"{to.username} is not a member of {team}; expected a member as the new owner."
        )
    Membership.objects.filter(team=team, user=by).update(is_owner=False)
    account_mails.tell(by, f"You transferred a team to another member:\n\n{quoted(f'{team} to {to.username}')}")
    AuditEntry.record("team.transferred", team, by=by, to=to.pk)


@transaction.atomic
def close(*, team: Team, by: User) -> None:
    """End the membership of the team's only member, and delete the team's invitations; name and scores stay on boards.

    A team without members is closed: nobody can submit for it or join it. Raises Refused: NOT_AN_OWNER; IN_USE if
    it has other members.
    """
    team = held(team)
    check_owner(team, by)
    if team.members.exclude(pk=by.pk).exists():
        raise Refused(
            Code.IN_USE,
            "The team has other members. Transfer ownership and leave the team instead.",
            heading="The team was not closed",
        )
    end(Membership.objects.get(team=team, user=by))
    team.invitations.all().delete()
    account_mails.tell(by, f"You closed a team:\n\n{quoted(team.name)}")
    AuditEntry.record("team.closed", team, by=by)


@transaction.atomic
def delete(*, team: Team, by: User) -> None:
    """Delete a team and its systems. Raises Refused: NOT_AN_OWNER; IN_USE if the team has submissions."""
    team = held(team)
    check_owner(team, by)
    if Submission.objects.filter(system__team=team).exists():
        raise Refused(
            Code.IN_USE,
            "The team has submissions, which are kept. Transfer ownership and leave the team instead.",
            heading="The team was not deleted",
        )
    account_mails.tell(by, f"You deleted a team:\n\n{quoted(team.name)}")
    AuditEntry.record("team.deleted", team, by=by, name=team.name)
    team.systems.all().delete()
    team.delete()


def end(row: Membership) -> None:
    """Delete a membership with the user's notices, sent or not, about the team's submissions."""
    Notice.objects.filter(user=row.user_id, submission__system__team=row.team_id).delete()
    row.delete()
