"""Serializers of teams and invitations."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from leaderboard.core.api import addresses
from leaderboard.models import Invitation, Team, User


class Named(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100, help_text="shown on leaderboards next to the team's systems")


class Invite(serializers.Serializer[Any]):
    address = serializers.CharField(max_length=254, help_text="a mail address")


class Member(serializers.Serializer[Any]):
    username = serializers.CharField(max_length=150, help_text="user name of the member who becomes the owner")


class Answer(serializers.Serializer[Any]):
    token = serializers.CharField(max_length=200, help_text="the last part of the invitation's link")
    answer = serializers.ChoiceField(["accept", "decline"])


class TeamMemberSerializer(serializers.Serializer[Any]):
    username = serializers.CharField()
    is_owner = serializers.BooleanField()


class InvitationSerializer(serializers.Serializer[Any]):
    """An invitation that can still be answered."""

    url = serializers.URLField(help_text="DELETE revokes it")
    address = serializers.CharField()
    expires_at = serializers.DateTimeField()


class InvitedSerializer(InvitationSerializer):
    link = serializers.CharField(help_text="link to pass on, shown only once; empty if it was mailed")


class TeamSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    url = serializers.URLField()
    page = serializers.URLField()
    name = serializers.CharField()
    is_owner = serializers.BooleanField(help_text="whether you are an owner")
    members = TeamMemberSerializer(many=True, help_text="owners first")
    systems = serializers.ListField(child=serializers.CharField())
    invitations = InvitationSerializer(many=True, help_text="open invitations, for owners; otherwise empty")


def team(row: Team, user: User, request: Request) -> dict[str, Any]:
    """Return a team's payload for one of its members. `row` has members, systems and open invitations prefetched."""
    memberships = list(row.membership_set.all())
    is_owner = any(membership.is_owner and membership.user_id == user.pk for membership in memberships)
    return {
        "id": row.pk,
        "url": addresses.of(request, "api_team", row.pk),
        "page": addresses.of(request, "team", row.pk),
        "name": row.name,
        "is_owner": is_owner,
        "members": [
            {"username": membership.user.username, "is_owner": membership.is_owner} for membership in memberships
        ],
        "systems": [system.name for system in row.systems.all()],
        "invitations": [invitation(open_invitation, request) for open_invitation in row.invitations.all()]
        if is_owner
        else [],
    }


def invitation(row: Invitation, request: Request) -> dict[str, Any]:
    address = addresses.of(request, "api_team_invitation", row.team_id, row.pk)
    return {"url": address, "address": row.address, "expires_at": row.expires_at}
