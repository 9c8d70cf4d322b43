"""Base classes of the API's views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.utils.cache import patch_cache_control
from drf_spectacular.openapi import AutoSchema
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.views import APIView


class OneAnswer(DefaultContentNegotiation):
    """Content negotiation that ignores the Accept header: each URL has one representation."""

    def select_renderer(self, request: Any, renderers: Any, format_suffix: str | None = None) -> Any:
        return renderers[0], renderers[0].media_type


class Schema(AutoSchema):
    """OpenAPI schema that takes an operation's summary from the first sentence of its docstring."""

    def get_summary(self) -> str | None:
        lines = str(self.get_description() or "").strip().splitlines()
        return lines[0].split(". ")[0].rstrip(".") if lines else None


class View(APIView):
    """Base class of all API views."""

    schema = Schema()
    content_negotiation_class = OneAnswer
    http_method_names: Sequence[str] = ("get", "head", "post", "delete")

    def finalize_response(self, request: Any, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Mark a response without Cache-Control as `private, no-cache`: it depends on the user."""
        response = super().finalize_response(request, response, *args, **kwargs)
        if not response.has_header("Cache-Control"):
            patch_cache_control(response, private=True, no_cache=True)
        return response
