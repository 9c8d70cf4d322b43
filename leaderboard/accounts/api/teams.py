"""`/teams/` and `/invitations/`: the user's teams, their members, invitations and leaving."""

from __future__ import annotations

from typing import Any, cast

from django.db.models import Prefetch, QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.accounts.actions import invitations, membership, teams
from leaderboard.accounts.api import serializers
from leaderboard.core import saved
from leaderboard.core.api import addresses
from leaderboard.core.api.base import View
from leaderboard.core.api.pagination import Pages, pages_of
from leaderboard.core.api.parsers import JSONParser
from leaderboard.core.api.serializers import errors
from leaderboard.core.refusal import NotFound
from leaderboard.core.web.reauthentication import check_reauthenticated
from leaderboard.models import Invitation, Membership, Team, User
from leaderboard.models.submission import systems_visible_to


class OwnView(View):
    """Base of this module's views, which all need a logged-in user."""

    permission_classes = (IsAuthenticated,)
    parser_classes = (JSONParser,)


class TeamsView(OwnView):
    @extend_schema(operation_id="team_list", responses={200: pages_of(serializers.TeamSerializer), **errors()})
    def get(self, request: Request) -> Response:
        """List your teams, by name."""
        pages = Pages()
        page = pages.paginate_queryset(_own(request).order_by("name", "pk"), request, view=self) or []
        lines = [serializers.team(row, _user(request), request) for row in page]
        return pages.get_paginated_response(serializers.TeamSerializer(lines, many=True).data)

    @extend_schema(
        operation_id="team_create",
        request=serializers.Named,
        responses={201: serializers.TeamSerializer, **errors(409, 415, 422)},
    )
    def post(self, request: Request) -> Response:
        """Create a team, which you own. 409 `name_taken` if another team's name looks similar."""
        params = _read(serializers.Named, request)
        team = teams.create(name=params["name"], by=_user(request))
        url = _keep(request, team, status=201)
        return Response(_serialized(request, team.pk), status=201, headers={"Location": url})


class TeamView(OwnView):
    @extend_schema(operation_id="team", responses={200: serializers.TeamSerializer, **errors()})
    def get(self, request: Request, pk: int) -> Response:
        """Return a team of yours: its members and systems, and to owners its open invitations."""
        return Response(_serialized(request, pk))


class InviteView(OwnView):
    @extend_schema(
        operation_id="team_invite",
        request=serializers.Invite,
        responses={201: serializers.InvitedSerializer, **errors(409, 415, 422)},
    )
    def post(self, request: Request, pk: int) -> Response:
        """Invite a person to a team that you own. The link works once; it is mailed, or returned for you to pass on."""
        check_reauthenticated(request, page="my_teams")
        params, team = _read(serializers.Invite, request), _own_or_404(request, pk)
        invited = invitations.invite(team=team, address=params["address"], by=_user(request))
        content = {**serializers.invitation(invited.invitation, request), "link": invited.link}
        return Response(serializers.InvitedSerializer(content).data, status=201, headers={"Cache-Control": "no-store"})


class InvitationView(OwnView):
    @extend_schema(operation_id="team_invitation_revoke", responses={204: None, **errors(409)})
    def delete(self, request: Request, pk: int, invitation: int) -> Response:
        """Revoke an open invitation to a team that you own."""
        row = get_object_or_404(Invitation.objects.select_related("team"), team=_own_or_404(request, pk), pk=invitation)
        invitations.revoke(invitation=row, by=_user(request))
        return Response(status=204)


class OwnerView(OwnView):
    @extend_schema(
        operation_id="team_hand_on",
        request=serializers.Member,
        responses={200: serializers.TeamSerializer, **errors(415)},
    )
    def post(self, request: Request, pk: int) -> Response:
        """Transfer your ownership of a team to another member. You stay as a member."""
        check_reauthenticated(request, page="my_teams")
        params, team = _read(serializers.Member, request), _own_or_404(request, pk)
        to = get_object_or_404(team.members, username=params["username"])
        membership.transfer(team=team, to=to, by=_user(request))
        _keep(request, team)
        return Response(_serialized(request, pk))


class LeaveView(OwnView):
    @extend_schema(operation_id="team_leave", responses={204: None, **errors(409)})
    def delete(self, request: Request, pk: int) -> Response:
        """Leave a team. 409 `last_owner` if you are its only owner: transfer ownership first."""
        membership.leave(team=_own_or_404(request, pk), by=_user(request))
        return Response(status=204)


class AnswerView(OwnView):
    @extend_schema(
        operation_id="invitation_answer",
        request=serializers.Answer,
        responses={200: serializers.TeamSerializer, 204: None, **errors(409, 410, 415)},
    )
    def post(self, request: Request) -> Response:
        """Accept an invitation (returns the team) or decline it (204).

        404 if it was used or has expired; 403 `not_invited` if it was mailed to an address that you have not verified.
        """
        params = _read(serializers.Answer, request)
        invitation = invitations.find(params["token"])
        if invitation is None:
            raise NotFound("This invitation is used, revoked or expired, or does not exist.")
        if params["answer"] == "decline":
            invitations.decline(invitation=invitation, by=_user(request))
            return Response(status=204)
        team = invitations.accept(invitation=invitation, by=_user(request))
        _keep(request, team)
        return Response(_serialized(request, team.pk))


def _keep(request: Request, team: Team, status: int = 200) -> str:
    """Keep the least response about a change of a team that is committed (`saved.keep`); return the team's URL."""
    url = addresses.of(request, "api_team", team.pk)
    least = {"id": team.pk, "url": url, "page": addresses.of(request, "team", team.pk), "name": team.name}
    saved.keep(request, Response(least, status=status, headers={"Location": url} if status == 201 else None))
    return url


def _user(request: Request) -> User:
    return cast(User, request.user)


def _read(serializer_class: Any, request: Request) -> dict[str, Any]:
    serializer = serializer_class(data=request.data)
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def _own(request: Request) -> QuerySet[Team]:
    """Return the user's teams with everything a serializer needs, in a constant number of queries."""
    members = Membership.objects.select_related("user").order_by("-is_owner", "user__username")
    open_invitations = invitations.open_of_all().order_by("created_at", "pk")
    return Team.objects.filter(pk__in=_user(request).teams.values("pk")).prefetch_related(
        Prefetch("membership_set", members),
        Prefetch("systems", systems_visible_to(_user(request)).order_by("name")),
        Prefetch("invitations", open_invitations),
    )


def _own_or_404(request: Request, pk: int) -> Team:
    """Return a team of the user; another user's team is a 404 too."""
    return get_object_or_404(_user(request).teams, pk=pk)


def _serialized(request: Request, pk: int) -> dict[str, Any]:
    team = get_object_or_404(_own(request), pk=pk)
    return dict(serializers.TeamSerializer(serializers.team(team, _user(request), request)).data)
