"""Pagination of lists."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.pagination import PageNumberPagination

from leaderboard.core.api import addresses


class Pages(PageNumberPagination):
    """Pagination by `?page=2&page_size=50`. A page is {"count", "next", "previous", "results"}."""

    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 500

    def get_next_link(self) -> str | None:
        return self._of_site(super().get_next_link())

    def get_previous_link(self) -> str | None:
        return self._of_site(super().get_previous_link())

    def _of_site(self, url: str | None) -> str | None:
        request: Any = self.request
        return url and addresses.site(request) + url.removeprefix(request.build_absolute_uri("/")[:-1])


def pages_of(line: type[serializers.Serializer[Any]]) -> serializers.Serializer[Any]:
    """Return the serializer of one page of a list, for the OpenAPI schema. line: serializer class of a list's item."""
    return inline_serializer(
        f"PageOf{line.__name__}",
        {
            "count": serializers.IntegerField(),
            "next": serializers.URLField(allow_null=True),
            "previous": serializers.URLField(allow_null=True),
            "results": line(many=True),
        },
    )
