"""`/systems/`: the systems of the user's teams, and their renaming."""

from __future__ import annotations

from typing import Any, cast

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.core.api import addresses
from leaderboard.core.api.base import View
from leaderboard.core.api.pagination import Pages, pages_of
from leaderboard.core.api.parsers import JSONParser
from leaderboard.core.api.serializers import errors
from leaderboard.models import System, User
from leaderboard.models.submission import systems_of_teams_of
from leaderboard.systems.actions import rename


class FormerNameSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    until = serializers.DateField()


class SystemSerializer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    page = serializers.URLField()
    name = serializers.CharField()
    team = serializers.CharField()
    former_names = FormerNameSerializer(many=True, help_text="public, the oldest first")


class Name(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=200, help_text="shown on all boards")


class SystemsView(View):
    permission_classes = (IsAuthenticated,)

    @extend_schema(operation_id="system_list", responses={200: pages_of(SystemSerializer), **errors()})
    def get(self, request: Request) -> Response:
        """List the systems of your teams, by name."""
        pages = Pages()
        rows = systems_of_teams_of(request.user).select_related("team").order_by("name", "pk")
        page = pages.paginate_queryset(rows, request, view=self) or []
        lines = [_fields(system, request) for system in page]
        return pages.get_paginated_response(SystemSerializer(lines, many=True).data)


class NameView(View):
    permission_classes = (IsAuthenticated,)
    parser_classes = (JSONParser,)

    @extend_schema(
        operation_id="system_rename",
        request=Name,
        responses={200: SystemSerializer, **errors(409, 415, 422)},
    )
    def post(self, request: Request, pk: int) -> Response:
        """Rename a system of one of your teams. The former name stays public on the system's page."""
        body = Name(data=request.data)
        body.is_valid(raise_exception=True)
        system = get_object_or_404(systems_of_teams_of(request.user).select_related("team"), pk=pk)
        system = rename.rename_system(system=system, name=body.validated_data["name"], by=cast(User, request.user))
        return Response(SystemSerializer(_fields(system, request)).data)


def _fields(system: System, request: Request) -> dict[str, Any]:
    return {
        "id": system.pk,
        "page": addresses.of(request, "system", system.pk),
        "name": system.name,
        "team": system.team.name,
        "former_names": system.former_names,
    }
