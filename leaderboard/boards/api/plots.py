"""API view `.../leaderboard/plots/`: revealed plot data of a board's systems."""

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
from leaderboard.core.api.serializers import errors


class CurveSerializer(serializers.Serializer[Any]):
    """ROC curve, with both rates in multiples of 1/`steps`."""

    slice = serializers.DictField(child=serializers.CharField(), help_text="{}: all units")
    steps = serializers.IntegerField()
    true_positive_rates = serializers.ListField(
        child=serializers.FloatField(),
        help_text="at the false positive rates 0, 1/steps, ... 1; rounded to whole steps",
    )


class ColumnSerializer(serializers.Serializer[Any]):
    """Units whose scores by the metric rank in bins `start` (from 0, the lowest scores) to `end` (exclusive)."""

    start = serializers.IntegerField()
    end = serializers.IntegerField()
    counts = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="number of them in each bin of the ranking by human ratings, lowest first",
    )


class GridSerializer(serializers.Serializer[Any]):
    """Histogram of scores by a metric (the system) against human ratings, both ranked and cut into `n_bins` bins."""

    slice = serializers.DictField(child=serializers.CharField(), help_text="{}: all units")
    n_bins = serializers.IntegerField()
    columns = ColumnSerializer(many=True)


class PairsSerializer(serializers.Serializer[Any]):
    """Numbers of pairs of an original and a generated claim of one group, by which of them is labelled correctly."""

    both = serializers.IntegerField(help_text="both right")
    drop = serializers.IntegerField(help_text="only the original right")
    flip = serializers.IntegerField(help_text="only the generated claim right")
    neither = serializers.IntegerField(help_text="both wrong")


class SystemPlotsSerializer(serializers.Serializer[Any]):
    """Plot data of one system. has_plots: false if its result has none; curves, grids and pairs are then empty."""

    system = serializers.CharField()
    team = serializers.CharField()
    submission = serializers.UUIDField(help_text="the submission that represents the system")
    has_plots = serializers.BooleanField()
    curves = CurveSerializer(many=True)
    grids = GridSerializer(many=True)
    pairs = PairsSerializer(allow_null=True, help_text="null: the gold is not a symmetric set")


class PageOfPlots(serializers.Serializer[Any]):
    """One page of the list of a board's systems with their plot data."""

    count = serializers.IntegerField()
    next = serializers.URLField(allow_null=True)
    previous = serializers.URLField(allow_null=True)
    results = SystemPlotsSerializer(many=True)
    is_revealed = serializers.BooleanField(help_text="whether the phase reveals plots; no system is listed if not")


@CONDITIONAL
class PlotsView(View):
    @extend_schema(
        operation_id="leaderboard_plots",
        parameters=[query_parameters.ComparisonQuery],
        responses={200: PageOfPlots, 304: None, **errors()},
    )
    def get(self, request: Request, slug: str, phase: str) -> Response:
        """List the plot data of a board's systems, best first.

        These are ROC curves, histograms of rank agreement with human ratings, and counts of contrast pairs.
        """
        version = query_parameters.version(query_parameters.read(query_parameters.ComparisonQuery, request))
        board = lookup.board_or_404(request.user, slug, phase, within=(), **version)
        is_revealed = shows_plots(board)
        pages = Pages()
        page: list[Row] = pages.paginate_queryset(by_primary(board) if is_revealed else [], request, view=self) or []
        plot_data = plots_of(board, page)
        items = [_shape(row, plot_data.get(row.run_id) if row.run_id else None) for row in page]
        page_data = pages.get_paginated_response(items).data
        return Response(PageOfPlots({**page_data, "is_revealed": is_revealed}).data)


def _shape(row: Row, plot: ShownPlot | None) -> dict[str, Any]:
    return {
        "system": row.system,
        "team": row.team,
        "submission": row.submission_id,
        "has_plots": plot is not None,
        "curves": [
            {
                "slice": dict(slice_),
                "steps": curve.steps,
                "true_positive_rates": [round(height / curve.steps, 6) for height in curve.heights],
            }
            for slice_, curve in (plot.curves if plot else {}).items()
        ],
        "grids": [
            {"slice": dict(slice_), "n_bins": grid.n_bins, "columns": grid.columns}
            for slice_, grid in (plot.grids if plot else {}).items()
        ],
        "pairs": plot.pairs if plot else None,
    }
