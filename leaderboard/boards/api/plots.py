"""`.../leaderboard/drawings/`: revealed plot data of a board's systems."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema, inline_serializer
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


class CurveShape(serializers.Serializer[Any]):
    """ROC curve on a grid of `steps` by `steps` steps."""

    slice = serializers.DictField(child=serializers.CharField(), help_text="{}: all units")
    steps = serializers.IntegerField()
    true_positive_rates = serializers.ListField(
        child=serializers.FloatField(),
        help_text="at the false positive rates 0, 1/steps, ... 1; rounded to whole steps",
    )


class ColumnShape(serializers.Serializer[Any]):
    """Number of units in the parts from `start` up to `end` of the ranking by the metric's scores."""

    start = serializers.IntegerField()
    end = serializers.IntegerField()
    counts = serializers.ListField(
        child=serializers.IntegerField(), help_text="by part of the ranking by people's ratings, lowest first"
    )


class GridShape(serializers.Serializer[Any]):
    """A metric's scores against human ratings, both ranked and binned into `parts` equal parts."""

    slice = serializers.DictField(child=serializers.CharField(), help_text="{}: all units")
    parts = serializers.IntegerField()
    columns = ColumnShape(many=True)


class PairsShape(serializers.Serializer[Any]):
    """Pairs of an original claim and a generated claim of its group, by which of them is right."""

    both = serializers.IntegerField(help_text="both right")
    drop = serializers.IntegerField(help_text="only the original right")
    flip = serializers.IntegerField(help_text="only the generated claim right")
    neither = serializers.IntegerField(help_text="both wrong")


class DrawnShape(serializers.Serializer[Any]):
    """Plot data of one system. drawn: false if its result was published without plot data; the rest is then empty."""

    system = serializers.CharField()
    team = serializers.CharField()
    submission = serializers.UUIDField(help_text="the submission that represents the system")
    drawn = serializers.BooleanField()
    curves = CurveShape(many=True)
    grids = GridShape(many=True)
    pairs = PairsShape(allow_null=True, help_text="null: the gold is not a symmetric set")


PAGE_SHAPE = inline_serializer(
    "PageOfDrawings",
    {
        "count": serializers.IntegerField(),
        "next": serializers.URLField(allow_null=True),
        "previous": serializers.URLField(allow_null=True),
        "told": serializers.BooleanField(help_text="whether the phase shows plot data; if not, nothing is listed"),
        "results": DrawnShape(many=True),
    },
)


@CONDITIONAL
class DrawingsView(View):
    @extend_schema(
        operation_id="leaderboard_drawings",
        parameters=[query_parameters.ComparisonQuery],
        responses={200: PAGE_SHAPE, 304: None, **errors()},
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
        response = pages.get_paginated_response(DrawnShape(items, many=True).data)
        response.data |= {"told": is_revealed}
        return response


def _shape(row: Row, plot: ShownPlot | None) -> dict[str, Any]:
    return {
        "system": row.system,
        "team": row.team,
        "submission": row.submission_id,
        "drawn": plot is not None,
        "curves": [
            {
                "slice": dict(slice_),
                "steps": curve.steps,
                "true_positive_rates": [round(height / curve.steps, 6) for height in curve.heights],
            }
            for slice_, curve in (plot.curves if plot else {}).items()
        ],
        "grids": [
            {"slice": dict(slice_), "parts": grid.n_parts, "columns": grid.columns}
            for slice_, grid in (plot.grids if plot else {}).items()
        ],
        "pairs": plot.pairs if plot else None,
    }
