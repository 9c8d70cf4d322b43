"""OpenAPI schema, and Swagger UI to try the calls: `/schema/` and `/docs/`."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from django.http import HttpResponse
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer2, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.request import Request

from leaderboard.core.api.base import View
from leaderboard.core.api.errors import answer


class SchemaView(SpectacularAPIView):
    """The OpenAPI schema, as JSON by default and YAML on request."""

    renderer_classes = [OpenApiJsonRenderer2, OpenApiYamlRenderer]

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
        """Return the rendered schema, which is the same for everybody until the process ends."""
        renderer = request.accepted_renderer
        headers = {"Content-Disposition": f'inline; filename="Holdout.{renderer.format}"'}
        media = f"{renderer.media_type}; charset=utf-8"
        return HttpResponse(_rendered(renderer.format), content_type=media, headers=headers)


@cache
def _rendered(form: str) -> str | bytes:
    """Return the schema in one of the forms of the renderers, json or yaml."""
    renderer = next(renderer for renderer in SchemaView.renderer_classes if renderer.format == form)
    return renderer().render(schema())


@cache
def schema() -> dict[str, Any]:
    """Return the OpenAPI schema of all API calls, including those that need special rights, as JSON values."""
    return dict(json.loads(json.dumps(SchemaGenerator().get_schema(request=None, public=True), default=str)))


class DocsView(SpectacularSwaggerSplitView):
    """Swagger UI with its script at a separate URL, so that the page has no inline script or style."""

    template_name = "core/api_docs.html"
    url_name = "api_schema"


class NothingView(View):
    """View of unknown API URLs, which returns a 404 as JSON."""

    authentication_classes = ()
    permission_classes = ()
    http_method_names = ("get", "head", "post", "put", "patch", "delete")
    MESSAGE = "There is nothing at this address: check its names and ids. /api/v1/docs/ lists all addresses."
    NO_SLASH = "There is nothing at this address. Addresses of the API end with a slash; /api/v1/docs/ lists them."

    @extend_schema(exclude=True)
    def get(self, request: Request, rest: str) -> HttpResponse:
        return answer(request, 404, "not_found", self.MESSAGE if request.path.endswith("/") else self.NO_SLASH)

    post = put = patch = delete = get
