"""API views `.../leaderboard/` (JSON) and `.../leaderboard.csv`: the revealed scores and ranks of a phase's board."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
from django.db.models import Choices
from django.http import HttpResponse
from django.utils.decorators import method_decorator
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request

from leaderboard.boards.api import csv, query_parameters
from leaderboard.boards.api.request import file_response, file_stem, page_url, requested_page
from leaderboard.boards.api.serializers import ReportedSerializer, reported
from leaderboard.boards.queries import Key, Ranges, Row, ShownScore, columns, facts
from leaderboard.boards.queries.columns import RowColumn
from leaderboard.boards.queries.ladder_bounds import as_fields
from leaderboard.boards.queries.reported_results import reported_of
from leaderboard.boards.web.etag import with_etag
from leaderboard.core.api.base import View
from leaderboard.core.api.serializers import ScoreSerializer, errors
from leaderboard.models import Phase


class CostSerializer(serializers.Serializer[Any]):
    """Cost of a container execution, rounded up to powers of the square root of two; null: not measured."""

    wall_seconds = serializers.FloatField(
        allow_null=True, help_text="from the container's start to its end, for all `n_inputs` of the board"
    )
    cpu_seconds = serializers.FloatField(allow_null=True, help_text="CPU time of all its processes together")
    memory_mb = serializers.FloatField(allow_null=True, help_text="peak memory in MB, files in memory included")
    image_mb = serializers.FloatField(allow_null=True, help_text="size of the image's unpacked layers in MB")
    gpu_seconds = serializers.FloatField(
        required=False, help_text="time in which its GPUs computed, of all of them together; absent without GPUs"
    )
    gpu_memory_mb = serializers.FloatField(
        required=False, help_text="peak memory of all its GPUs together in MB; absent without GPUs"
    )


FIELDS: dict[type, type[serializers.Field[Any, Any, Any, Any]]] = {
    bool: serializers.BooleanField,
    int: serializers.IntegerField,
    str: serializers.CharField,
    datetime: serializers.DateTimeField,
    UUID: serializers.UUIDField,
}


def _field(column: RowColumn) -> serializers.Field[Any, Any, Any, Any]:
    options: dict[str, Any] = {"allow_null": True} if column.null else {}
    if column.help:
        options["help_text"] = column.help
    if column.kind is dict:
        return serializers.DictField(**options)
    if column.kind is list:
        return serializers.ListField(child=serializers.CharField(), **options)
    if issubclass(column.kind, Choices):
        return serializers.ChoiceField(column.kind.choices, **options)
    return FIELDS[column.kind](**options)


class RowSerializer(serializers.Serializer[Any]):
    def get_fields(self) -> dict[str, serializers.Field[Any, Any, Any, Any]]:
        return {
            **{column.name: _field(column) for column in columns.COLUMNS},
            "scores": ScoreSerializer(many=True),
            "cost": CostSerializer(allow_null=True, help_text="of the system's container; null: see `no_cost`"),
        }


class BoardSerializer(serializers.Serializer[Any]):
    benchmark = serializers.CharField()
    phase = serializers.CharField()
    gold_version = serializers.IntegerField(allow_null=True)
    task_version = serializers.IntegerField(allow_null=True)
    primary = serializers.CharField(help_text="name of the measure by which systems are ranked")
    disclosure = serializers.ChoiceField(Phase.Disclosure.choices, help_text="how much of the scores the phase reveals")
    step = serializers.FloatField(
        allow_null=True,
        help_text="step to which overall scores are rounded while the gold is hidden: on a ladder that of a score "
        "between 0 and 1, 1/sqrt(number of groups), else that of the primary measure; null: they are not rounded, or "
        "there is no gold yet",
    )
    rank_ranges = serializers.ChoiceField(
        [state.value for state in Ranges], help_text="state of the rank ranges `rank_low` to `rank_high` of the rows"
    )
    measures = serializers.ListField(child=serializers.CharField(), help_text="names of all measures for this gold")
    dimensions = serializers.DictField(
        child=serializers.ListField(child=serializers.CharField()),
        help_text="dimensions that `slices` may name, each with its values",
    )
    tracks = serializers.ListField(child=serializers.CharField(), help_text="tracks that `track` may name")
    n_inputs = serializers.IntegerField(help_text="number of inputs that a system answers, and that its cost is for")
    crossed = serializers.ListField(
        child=serializers.CharField(),
        allow_null=True,
        help_text="the two dimensions whose two-way slices are returned if `slices` names both; null: none are scored",
    )
    slice = serializers.DictField(child=serializers.CharField(), help_text="slice that `sort` and filters use")
    as_of = serializers.DateField(
        allow_null=True, help_text="the board at the end of that day, UTC; null: the current board"
    )
    count = serializers.IntegerField(help_text="number of rows that pass the filters, on all pages")
    next = serializers.URLField(allow_null=True, help_text="the next page; null: this is the last")
    previous = serializers.URLField(allow_null=True)
    rows = RowSerializer(many=True)
    reported = ReportedSerializer(many=True, help_text="results copied from papers; not ranked")


ENCODER = msgspec.json.Encoder()
CONDITIONAL = method_decorator(with_etag, name="dispatch")


@CONDITIONAL
class BoardView(View):
    @extend_schema(
        operation_id="leaderboard",
        responses={200: BoardSerializer, 304: None, **errors()},
        parameters=[query_parameters.BoardPageQuery],
    )
    def get(self, request: Request, slug: str, phase: str) -> HttpResponse:
        """Return the leaderboard of a phase. Scores are overall unless `slice` or `slices` selects others.

        A page has 150 rows, unless `page_size` says otherwise.
        """
        page, keys = requested_page(request, slug, phase, paged=True)
        board = page.board
        leaderboard_row = board.leaderboard
        content = {
            "benchmark": slug,
            "phase": phase,
            "gold_version": leaderboard_row.gold_version.number if leaderboard_row else None,
            "task_version": leaderboard_row.task_version if leaderboard_row else None,
            "primary": board.primary,
            "disclosure": board.phase.disclosure,
            "step": board.step,
            "rank_ranges": board.ranges.value,
            "measures": [measure.name for measure in board.measures],
            "dimensions": {name: [str(value) for value in values] for name, values in board.dimensions.items()},
            "tracks": [track["name"] for track in board.phase.tracks],
            "n_inputs": board.n_inputs,
            "crossed": board.crossed,
            "slice": dict(page.query.slice_),
            "as_of": board.as_of,
            "count": page.n,
            "next": page_url(request, page.after),
            "previous": page_url(request, page.before),
            "rows": _rows(board.rows, keys),
            "reported": reported(reported_of(board.phase.benchmark)),
        }
        # A serializer would take ten times as long; a test keeps this in line with BoardSerializer.
        return HttpResponse(ENCODER.encode(content), content_type="application/json")


@CONDITIONAL
class BoardTableView(View):
    @extend_schema(
        operation_id="leaderboard_csv",
        responses={(200, "text/csv"): OpenApiTypes.STR, 304: None, **errors()},
        parameters=[query_parameters.BoardFileQuery],
    )
    def get(self, request: Request, slug: str, phase: str) -> HttpResponse:
        """Export the board as CSV. Each measure has four columns: value, low and high (interval), and n (gold units).

        On a ladder two more columns, at_least and at_most, bound the true score, which `value` rounds towards the
        measure's worst value.
        Columns for costs, facts of systems and tracks follow, if there are any. Text that a spreadsheet would run as a
        formula gets a leading apostrophe.
        """
        page, keys = requested_page(request, slug, phase)
        board = page.board
        content = csv.written(board.rows, keys, board.cost_kinds, facts.of(board.phase.benchmark))
        name = f"{file_stem(page, slug, phase)}.csv"
        return file_response(request, page, content, media="text/csv", name=name)


def _rows(rows: Iterable[Row], keys: Iterable[Key]) -> list[dict[str, Any]]:
    names = [column.name for column in columns.COLUMNS]
    values = columns.values_of(columns.COLUMNS)
    named = [(key, key[0], dict(key[1])) for key in keys]
    return [
        {
            **dict(zip(names, values(row), strict=True)),
            "scores": [_score(measure, on, row.scores[key]) for key, measure, on in named if key in row.scores],
            "cost": row.cost and row.cost.as_dict(),
        }
        for row in rows
    ]


def _score(measure: str, on: dict[str, str], score: ShownScore) -> dict[str, Any]:
    value, low, high, n, bounds, _ = score
    fields = {"measure": measure, "slice": on, "value": value, "low": low, "high": high, "n": n}
    if bounds is not None:
        fields.update(as_fields(bounds))
    return fields
