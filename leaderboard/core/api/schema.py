"""`/schema/` and `/docs/`: the API described to programs and to people."""

from __future__ import annotations

from drf_spectacular.renderers import OpenApiJsonRenderer2, OpenApiYamlRenderer
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.core.api.base import View


class SchemaView(SpectacularAPIView):
    """JSON, or YAML for who asks for it."""

    renderer_classes = [OpenApiJsonRenderer2, OpenApiYamlRenderer]


class DocsView(SpectacularSwaggerSplitView):
    """Swagger UI with its script at an address of its own, so that the page holds neither script nor style."""

    template_name = "core/api_docs.html"
    url_name = "api_schema"


class NothingView(View):
    """Whatever is not there is told as JSON, too."""

    authentication_classes = ()
    permission_classes = ()
    http_method_names = ("get", "head", "post", "put", "patch", "delete")
    MESSAGE = "There is nothing at this address. Addresses of the API end with a slash; /api/v1/docs/ lists them."

    @extend_schema(exclude=True)
    def get(self, request: Request, rest: str) -> Response:
        return Response({"code": "not_found", "message": self.MESSAGE}, status=404)

    post = put = patch = delete = get
