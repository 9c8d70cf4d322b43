"""What arrives in pieces: the body of one of them, and where it begins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework import parsers, serializers
from rest_framework.request import Request

from leaderboard.core.api.parsers import check_before_reading
from leaderboard.core.chunked_upload import PIECE_BYTES


class Offset(serializers.Serializer[Any]):
    offset = serializers.IntegerField(min_value=0, help_text="where the piece begins: what `received` says")


class PieceParser(parsers.BaseParser):
    """The body as bytes, and no more of it than one piece may have."""

    media_type = "application/octet-stream"

    def parse(
        self, stream: Any, media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, bytes]:
        return {"piece": stream.read(PIECE_BYTES + 1)}


def piece_of(request: Request, *, expected: str) -> tuple[int, bytes]:
    """(where it begins, the piece), of a view with PieceParser. expected: what the body would be, in words."""
    check_before_reading(request, expected=expected)
    asked = Offset(data=request.query_params)
    asked.is_valid(raise_exception=True)
    sent: Any = request.data
    return asked.validated_data["offset"], sent["piece"]
