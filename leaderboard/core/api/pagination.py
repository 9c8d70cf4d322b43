"""Pagination of lists."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import inline_serializer
from rest_framework import serializers
from rest_framework.pagination import PageNumberPagination


class Pages(PageNumberPagination):
    """Pagination by `?page=2&page_size=50`. A page is {"count", "next", "previous", "results"}."""

    page_size = 100
    page_size_query_param = "page_size"
    max_page_size = 500


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
