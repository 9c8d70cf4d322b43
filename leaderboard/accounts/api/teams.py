"""`/teams/` and `/invitations/`: one's teams, who belongs to them, and the way in and out."""

from __future__ import annotations

from typing import Any, cast

from django.db.models import Prefetch, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.accounts.actions import invitations, membership, teams
from leaderboard.accounts.api import team_serializers
from leaderboard.core.api.base import View
from leaderboard.core.api.pagination import Pages, pages_of
from leaderboard.core.api.parsers import JSONParser
from leaderboard.core.api.serializers import errors
from leaderboard.models import Invitation, Membership, Team, User
from leaderboard.models.submission import systems_known_to


class OwnView(View):
    """What the views of this file share."""

    permission_classes = (IsAuthenticated,)
    parser_classes = (JSONParser,)


class TeamsView(OwnView):
    @extend_schema(operation_id="team_list", responses={200: pages_of(team_serializers.TeamShape), **errors()})
    def get(self, request: Request) -> Response:
        """Your teams, by name."""
        pages = Pages()
        page = pages.paginate_queryset(_own(request).order_by("name", "pk"), request, view=self) or []
        lines = [team_serializers.team(row, _user(request), request) for row in page]
        return pages.get_paginated_response(team_serializers.TeamShape(lines, many=True).data)

    @extend_schema(
        operation_id="team_create",
        request=team_serializers.Named,
        responses={201: team_serializers.TeamShape, **errors(409, 415, 422)},
    )
    def post(self, request: Request) -> Response:
        """Found a team, which you own. 409 `name_taken` where another one's name looks like it."""
        asked = _read(team_serializers.Named, request)
        made = teams.create(name=asked["name"], by=_user(request))
        answer = _told(request, made.pk)
        return Response(answer, status=201, headers={"Location": answer["url"]})


class TeamView(OwnView):
    @extend_schema(operation_id="team", responses={200: team_serializers.TeamShape, **errors()})
    def get(self, request: Request, pk: int) -> Response:
        """A team of yours: its members and systems, and for owners the invitations that are open."""
        return Response(_told(request, pk))


class InviteView(OwnView):
    @extend_schema(
        operation_id="team_invite",
        request=team_serializers.Invite,
        responses={201: team_serializers.InvitedShape, **errors(409, 415, 422)},
    )
    def post(self, request: Request, pk: int) -> Response:
        """Invite somebody; for owners. The link works once; it is mailed, or is in the answer to be handed on."""
        asked, team = _read(team_serializers.Invite, request), _own_or_404(request, pk)
        invited = invitations.invite(team=team, address=asked["address"], by=_user(request))
        answer = {**team_serializers.invitation(invited.invitation, request), "link": invited.link}
        return Response(team_serializers.InvitedShape(answer).data, status=201, headers={"Cache-Control": "no-store"})


class InvitationView(OwnView):
    @extend_schema(operation_id="team_invitation_revoke", responses={204: None, **errors(409)})
    def delete(self, request: Request, pk: int, invitation: int) -> Response:
        """Take an open invitation back; for owners."""
        found = get_object_or_404(
            Invitation.objects.select_related("team"), team=_own_or_404(request, pk), pk=invitation
        )
        invitations.revoke(invitation=found, by=_user(request))
        return Response(status=204)


class OwnerView(OwnView):
    @extend_schema(
        operation_id="team_hand_on",
        request=team_serializers.Member,
        responses={200: team_serializers.TeamShape, **errors(415)},
    )
    def post(self, request: Request, pk: int) -> Response:
        """Hand the team on to another member, who owns it from then on; for owners, who stay as members."""
        asked, team = _read(team_serializers.Member, request), _own_or_404(request, pk)
        to = get_object_or_404(team.members, username=asked["username"])
        membership.transfer(team=team, to=to, by=_user(request))
        return Response(_told(request, pk))


class LeaveView(OwnView):
    @extend_schema(operation_id="team_leave", responses={204: None, **errors(409)})
    def delete(self, request: Request, pk: int) -> Response:
        """Leave a team. 409 `last_owner`: hand it on first."""
        membership.leave(team=_own_or_404(request, pk), by=_user(request))
        return Response(status=204)


class AnswerView(OwnView):
    @extend_schema(
        operation_id="invitation_answer",
        request=team_serializers.Answer,
        responses={200: team_serializers.TeamShape, 204: None, **errors(409, 415)},
    )
    def post(self, request: Request) -> Response:
        """Accept an invitation, which answers with the team, or decline it (204). 404: it is used, or too old."""
        asked = _read(team_serializers.Answer, request)
        found = invitations.found(asked["token"])
        if found is None:
            raise Http404("no such invitation")
        if asked["answer"] == "decline":
            invitations.decline(invitation=found, by=_user(request))
            return Response(status=204)
        return Response(_told(request, invitations.accept(invitation=found, by=_user(request)).pk))


def _user(request: Request) -> User:
    return cast(User, request.user)


def _read(shape: Any, request: Request) -> dict[str, Any]:
    asked = shape(data=request.data)
    asked.is_valid(raise_exception=True)
    return dict(asked.validated_data)


def _own(request: Request) -> QuerySet[Team]:
    """With all that a shape tells: the same few queries however many teams there are."""
    members = Membership.objects.select_related("user").order_by("-is_owner", "user__username")
    waiting = invitations.open_of_all().order_by("created_at", "pk")
    return Team.objects.filter(pk__in=_user(request).teams.values("pk")).prefetch_related(
        Prefetch("membership_set", members),
        Prefetch("systems", systems_known_to(_user(request)).order_by("name")),
        Prefetch("invitations", waiting),
    )


def _own_or_404(request: Request, pk: int) -> Team:
    """Another's team is not told from one that is not there."""
    return get_object_or_404(_user(request).teams, pk=pk)


def _told(request: Request, pk: int) -> dict[str, Any]:
    found = get_object_or_404(_own(request), pk=pk)
    return dict(team_serializers.TeamShape(team_serializers.team(found, _user(request), request)).data)
