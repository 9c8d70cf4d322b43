"""What all views of the API share."""

from __future__ import annotations

from typing import Any

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.views import APIView


class OneAnswer(DefaultContentNegotiation):
    """An address has one representation: whatever a client accepts, it is sent."""

    def select_renderer(self, request: Any, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


class View(APIView):
    """A view of the API."""

    content_negotiation_class = OneAnswer
    metadata_class = None
