"""`.../leaderboard/plots/`: revealed plot data of a board's systems."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from leaderboard.boards.api import query_parameters
from leaderboard.boards.api.boards import CONDITIONAL
from leaderboard.boards.queries import Row, by_primary, lookup
from leaderboard.boards.queries.plots import ShownPlot, plots_of, shows_plots
from leaderboard.core.api.base import View
from leaderboard.core.api.pagination import Pages
from leaderboard.core.api.renamed import RenamedFields
from leaderboard.core.api.serializers import errors


class CurveShape(serializers.Serializer[Any]):
    """ROC curve on a grid of `steps` by `steps` steps."""

    slice = serializers.DictField(child=serializers.CharField(), help_text="{} is the whole")
    steps = serializers.IntegerField()
    true_positive_rates = serializers.ListField(
        child=serializers.FloatField(), help_text="at the false positive rates 0, 1/steps, ... 1; whole steps"
    )


class ColumnShape(serializers.Serializer[Any]):
    """Number of units in the bins from `start` up to `end` of the ranking by the metric's scores."""

    start = serializers.IntegerField()
    end = serializers.IntegerField()
    counts = serializers.ListField(
        child=serializers.IntegerField(), help_text="by bin of the ranking by human ratings, the lowest first"
    )


class GridShape(RenamedFields):
    """A metric's scores against human ratings, both ranked and binned into `n_bins` bins of equal size."""

    slice = serializers.DictField(child=serializers.CharField(), help_text="{} is the whole")
    n_bins = serializers.IntegerField()
    columns = ColumnShape(many=True)


class PairsShape(serializers.Serializer[Any]):
    """Pairs of an original claim and a generated claim of its group, by which of them is right."""

    both = serializers.IntegerField(help_text="both right")
    drop = serializers.IntegerField(help_text="the original right, the generated one wrong")
    flip = serializers.IntegerField(help_text="the original wrong, the generated one right")
    neither = serializers.IntegerField(help_text="both wrong")


class SystemPlotsShape(RenamedFields):
    """Plot data of one system. has_plots: false if its result was published without them; the rest is then empty."""

    system = serializers.CharField()
    team = serializers.CharField()
    submission = serializers.UUIDField(help_text="the submission that represents the system")
    has_plots = serializers.BooleanField()
    curves = CurveShape(many=True)
    grids = GridShape(many=True)
    pairs = PairsShape(allow_null=True, help_text="null: the gold is not a symmetric set")


class PageOfPlots(RenamedFields):
    """A page of a list of plot data."""

    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = SystemPlotsShape(many=True)
    is_revealed = serializers.BooleanField(help_text="whether the phase reveals plots; no system is listed if not")


@CONDITIONAL
class PlotsView(View):
    @extend_schema(
        operation_id="leaderboard_plots",
        parameters=[query_parameters.ComparisonQuery],
        responses={200: PageOfPlots, 304: None, **errors()},
    )
    def get(self, request: Request, slug: str, phase: str) -> Response:
        """List the plot data of a board's systems, best first. ROC curves, rank agreement with human ratings, pairs."""
        version = query_parameters.version(query_parameters.read(query_parameters.ComparisonQuery, request))
        board = lookup.board_or_404(request.user, slug, phase, within=(), **version)
        is_revealed = shows_plots(board)
        pages = Pages()
        page: list[Row] = pages.paginate_queryset(by_primary(board) if is_revealed else [], request, view=self) or []
        plot_data = plots_of(board, page)
        items = [_shape(row, plot_data.get(row.run_id) if row.run_id else None) for row in page]
        page_data = pages.get_paginated_response(items).data
        return Response(PageOfPlots({**page_data, "is_revealed": is_revealed}).data)


def _shape(row: Row, drawn: ShownPlot | None) -> dict[str, Any]:
    return {
        "system": row.system,
        "team": row.team,
        "submission": row.submission_id,
        "has_plots": drawn is not None,
        "curves": [
            {
                "slice": dict(slice_),
                "steps": curve.steps,
                "true_positive_rates": [round(height / curve.steps, 6) for height in curve.heights],
            }
            for slice_, curve in (drawn.curves if drawn else {}).items()
        ],
        "grids": [
            {"slice": dict(slice_), "n_bins": grid.n_parts, "columns": grid.columns}
            for slice_, grid in (drawn.grids if drawn else {}).items()
        ],
        "pairs": drawn.pairs if drawn else None,
    }
