"""Chunked uploads in the API: the body of one chunk and its offset."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import parsers, serializers
from rest_framework.request import Request

from leaderboard.core.api.parsers import check_before_reading
from leaderboard.core.chunked_upload import CHUNK_BYTES


class Offset(serializers.Serializer[Any]):
    offset = serializers.IntegerField(
        min_value=0, help_text="offset at which the chunk begins: the value of `received`"
    )


class ChunkParser(parsers.BaseParser):
    """Parser that returns {"chunk": the body as bytes}.

    Reads at most CHUNK_BYTES + 1 bytes: enough to recognise a chunk that is too large.
    """

    media_type = "application/octet-stream"

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, bytes]:
        return {"chunk": stream.read(CHUNK_BYTES + 1)}


def chunk_of(request: Request, *, expected: str) -> tuple[int, bytes]:
    """Return (offset, chunk) from a request to a view with ChunkParser. expected: noun for the body in errors."""
    check_before_reading(request, expected=expected)
    query = Offset(data=request.query_params)
    query.is_valid(raise_exception=True)
    data: Any = request.data
    return query.validated_data["offset"], data["chunk"]
