"""API view `.../leaderboard/comparisons/`: pairwise comparisons of a board's competing systems."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema, inline_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluator.statistics import confidence
from evaluator.statistics.holm import ALPHA
from leaderboard.boards.api import query_parameters
from leaderboard.boards.api.boards import CONDITIONAL
from leaderboard.boards.queries import Ranges, Row, lookup
from leaderboard.comparisons.queries.pairs import RankedPair, ranked_pairs
from leaderboard.core.api.base import View
from leaderboard.core.api.pagination import Pages
from leaderboard.core.api.serializers import errors


class PairedSystemSerializer(serializers.Serializer[Any]):
    system = serializers.CharField()
    team = serializers.CharField()
    rank = serializers.IntegerField()
    submission = serializers.UUIDField(help_text="the submission that represents the system")


class ComparisonSerializer(serializers.Serializer[Any]):
    """Two competing systems compared by the overall primary measure; `a` is ranked at least as high as `b`."""

    a = PairedSystemSerializer()
    b = PairedSystemSerializer()
    difference = serializers.FloatField(allow_null=True, help_text="a - b")
    low = serializers.FloatField(
        allow_null=True, help_text=f"{confidence.percent()} confidence interval of the difference; null: none"
    )
    high = serializers.FloatField(allow_null=True)
    p = serializers.FloatField(allow_null=True, help_text="two-sided p-value, by a permutation test")
    p_holm = serializers.FloatField(
        allow_null=True,
        help_text="p, Holm-corrected for all compared pairs of the board; if a is the leader and b not its neighbour, "
        "for all pairs of the board",
    )
    significant = serializers.BooleanField(help_text=f"whether p_holm is at most {ALPHA}")
    n_permutations = serializers.IntegerField(
        allow_null=True,
        help_text="permutations behind p, which is at least 1 / (n_permutations + 1); null where p is rounded, because "
        "all its digits follow from them",
    )
    n_groups = serializers.IntegerField(help_text="groups that were permuted for p, and resampled for the interval")


PAGE_SHAPE = inline_serializer(
    "PageOfComparisons",
    {
        "count": serializers.IntegerField(),
        "next": serializers.URLField(allow_null=True),
        "previous": serializers.URLField(allow_null=True),
        "measure": serializers.CharField(help_text="name of the primary measure"),
        "rank_ranges": serializers.ChoiceField(
            [state.value for state in Ranges], help_text="no pairs are listed unless `ready`"
        ),
        "results": ComparisonSerializer(many=True),
    },
)


@CONDITIONAL
class ComparisonsView(View):
    @extend_schema(
        operation_id="leaderboard_comparisons",
        parameters=[query_parameters.ComparisonQuery],
        responses={200: PAGE_SHAPE, 304: None, **errors()},
    )
    def get(self, request: Request, slug: str, phase: str) -> Response:
        """Return the compared pairs of ranked systems, in the order of their ranks.

        All pairs are compared on a board of up to 141 systems; on a larger one, each system is compared with its
        neighbours in rank and with the leader. Rank ranges are computed from these comparisons.
        """
        version = query_parameters.version(query_parameters.read(query_parameters.ComparisonQuery, request))
        board = lookup.board_or_404(request.user, slug, phase, within=(), **version)
        pages = Pages()
        page = pages.paginate_queryset(ranked_pairs(board), request, view=self) or []
        answer = pages.get_paginated_response(ComparisonSerializer([_shape(pair) for pair in page], many=True).data)
        answer.data |= {"measure": board.primary, "rank_ranges": board.ranges.value}
        return answer


def _shape(pair: RankedPair) -> dict[str, Any]:
    names = ("difference", "low", "high", "p", "p_holm", "significant", "n_groups")
    return {
        **{name: getattr(pair, name) for name in names},
        "n_permutations": pair.n_permutations,
        "a": _system(pair.a),
        "b": _system(pair.b),
    }


def _system(row: Row) -> dict[str, Any]:
    return {"system": row.system, "team": row.team, "rank": row.rank, "submission": row.submission_id}
