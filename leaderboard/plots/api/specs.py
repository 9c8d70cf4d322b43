"""API view `.../leaderboard/plots/NAME/`: a plot of a board as a Vega-Lite specification with its data."""

from __future__ import annotations

from typing import Any

from django.http import JsonResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from leaderboard.boards.api import query_parameters
from leaderboard.boards.api.boards import CONDITIONAL
from leaderboard.boards.queries import InvalidQuery
from leaderboard.core.api import addresses
from leaderboard.core.api.base import View
from leaderboard.core.api.serializers import errors
from leaderboard.plots.catalog import PLOTS, PlotRequest, spec_or_404


@CONDITIONAL
class SpecView(View):
    @extend_schema(
        operation_id="leaderboard_plot",
        parameters=[
            OpenApiParameter("plot", str, OpenApiParameter.PATH, enum=sorted(PLOTS), description="the plot's name"),
            query_parameters.VersionQuery,
        ],
        responses={200: OpenApiTypes.OBJECT, 304: None, **errors()},
    )
    def get(self, request: Request, slug: str, phase: str, plot: str) -> JsonResponse:
        """Return a plot as a Vega-Lite specification with its data.

        Altair shows it in a notebook: `altair.Chart.from_dict(requests.get(address).json())`. The plot takes the query
        parameters of its page, such as `slice` and `system` of ROC curves.
        """
        version = query_parameters.version(query_parameters.read(query_parameters.VersionQuery, request))
        asked = PlotRequest(request.user, slug, phase, version, request.query_params)
        try:
            spec = spec_or_404(plot, asked)
        except InvalidQuery as error:
            raise ValidationError({error.parameter: error.text}) from error
        return JsonResponse(_with_absolute_urls(spec, addresses.site(request)))


def _with_absolute_urls(content: Any, site: str) -> Any:
    """Return the specification with `site` before each address in its data, so that it is a link in a notebook, too."""
    if isinstance(content, dict):
        return {
            key: site + value if key == "url" and isinstance(value, str) else _with_absolute_urls(value, site)
            for key, value in content.items()
        }
    if isinstance(content, list):
        return [_with_absolute_urls(value, site) for value in content]
    return content
