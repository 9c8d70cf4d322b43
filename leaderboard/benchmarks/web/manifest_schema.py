"""JSON Schema of `benchmark.json`, for editors and other tools."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.urls import reverse
from django.views.decorators.cache import cache_control
from django.views.decorators.http import conditional_page, require_safe

from leaderboard.benchmarks.manifest import json_schema
from leaderboard.core.web.public_responses import SECONDS


@require_safe
@conditional_page
@cache_control(public=True, max_age=SECONDS)
def manifest_schema(request: HttpRequest) -> JsonResponse:
    """Send the schema of this version of the site."""
    schema = json_schema(settings.BASE_URL + reverse("manifest_schema"))
    headers = {"Access-Control-Allow-Origin": "*"}
    return JsonResponse(schema, content_type="application/schema+json", headers=headers)
