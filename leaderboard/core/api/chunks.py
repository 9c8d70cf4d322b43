"""Requests of the former upload protocol, which `tus` replaces: the body is a chunk, the query has its offset."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from leaderboard.core.api.parsers import check_before_reading
from leaderboard.core.api.tus import OffsetParser


class Offset(serializers.Serializer[Any]):
    offset = serializers.IntegerField(
        min_value=0, help_text="offset at which the chunk begins: the value of `received`"
    )


class ChunkParser(OffsetParser):
    media_type = "application/octet-stream"


def chunk_of(request: Request, *, expected: str) -> tuple[int, bytes]:
    """Return (offset, chunk) of a request to a view with ChunkParser: the chunk is the body, as bytes.

    The offset is that of the chunk's first byte in the whole file. expected: noun for the body in error messages.
    Raises ValidationError for an invalid offset, and the errors of `check_before_reading`.
    """
    check_before_reading(request, expected=expected)
    query = Offset(data=request.query_params)
    query.is_valid(raise_exception=True)
    data: Any = request.data
    return query.validated_data["offset"], data["chunk"]
