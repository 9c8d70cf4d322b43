"""Query parameters of the API and their validation."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request

from leaderboard.boards.queries import MOST_ROWS, PAGE_SIZE
from leaderboard.models import State


class OptionalText(serializers.CharField):
    """Text to filter by; absent or empty: no filter."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**{"required": False, "allow_blank": True, "default": "", "max_length": 200, **more})


class Names(OptionalText):
    """Comma-separated names, parsed to a list. Up to 2,000 characters: a dimension's name alone may have 200."""

    def __init__(self, **more: Any) -> None:
        super().__init__(max_length=2000, **more)

    def to_internal_value(self, data: Any) -> Any:
        return [name for name in (part.strip() for part in super().to_internal_value(data).split(",")) if name]

    def get_default(self) -> Any:
        return []


class PageQuery(serializers.Serializer[Any]):
    page = serializers.IntegerField(required=False, min_value=1, default=1)
    page_size = serializers.IntegerField(required=False, min_value=1, max_value=500, default=100)


class BenchmarkQuery(PageQuery):
    search = OptionalText(help_text="words that all occur in texts of the benchmark, its dataset or its paper")
    task = OptionalText(help_text="the name of a task")


class QuotaQuery(serializers.Serializer[Any]):
    team = OptionalText(help_text="the team whose quota is shown; default: your first team")


class SubmissionQuery(PageQuery):
    benchmark = OptionalText(help_text="slug of a benchmark")
    phase = OptionalText(help_text="slug of a phase")
    system = OptionalText(help_text="name of a system")
    team = OptionalText(help_text="name of one of your teams")
    state = serializers.ChoiceField(State.choices, required=False, default="", allow_blank=True)
    search = OptionalText(help_text="words in the names of system and benchmark, or in the note")


class VersionQuery(serializers.Serializer[Any]):
    """Gold version and task version of a board: a request gives both, or neither for the current board."""

    gold_version = serializers.IntegerField(
        required=False,
        min_value=1,
        help_text="with `task_version`: the board of these versions; default: the current board",
    )
    task_version = serializers.IntegerField(required=False, min_value=1, help_text="with `gold_version`")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        for missing, present in (("task_version", "gold_version"), ("gold_version", "task_version")):
            if present in attrs and missing not in attrs:
                raise ValidationError({missing: f"{missing} is missing, expected it together with {present}."})
        return attrs


class BoardQuery(VersionQuery):
    measure = Names(help_text="names of the measures to show, separated by commas; default: all")
    slices = Names(help_text="dimensions whose slices are shown as well, separated by commas, or `all`; default: none")
    slice = OptionalText(
        max_length=2000,
        help_text="slice whose scores are shown, such as `property:CEO` or `origin:generated,label:SUPPORTS`; "
        "default: all units",
    )
    sort = OptionalText(
        max_length=2000,
        help_text="a column such as `link_f1` or `link_f1[property=CEO]`, best first; a leading - reverses the order. "
        "A measure without brackets is sorted by its scores on `slice`",
    )
    kind = OptionalText(help_text="`participant`, `baseline` or `organiser`: only systems of that kind")
    track = OptionalText(help_text="name of one of the phase's tracks: only systems that declare it")
    search = OptionalText(help_text="words that all occur in the names of system or team, as shown to you")
    own = OptionalText(help_text="`1`: only systems of your teams")
    by = OptionalText(max_length=2000, help_text="column for `at_least` and `at_most`; default: the primary measure")
    at_least = OptionalText(help_text="only rows with at least this value in the column `by`")
    at_most = OptionalText(help_text="only rows with at most this value in the column `by`")
    as_of = OptionalText(help_text="`2026-11-01`: the board at the end of that day, UTC; default: the current board")


class BoardFileQuery(BoardQuery):
    page = serializers.IntegerField(
        required=False,
        min_value=1,
        default=1,
        help_text=f"which {MOST_ROWS} systems of a board that has more; the header Link has the next page",
    )


class BoardPageQuery(BoardQuery):
    page = serializers.IntegerField(required=False, min_value=1, default=1)
    page_size = serializers.IntegerField(required=False, min_value=1, max_value=MOST_ROWS, default=PAGE_SIZE)


class ComparisonQuery(PageQuery, VersionQuery):
    pass


def version(params: dict[str, Any]) -> dict[str, Any]:
    """Convert a VersionQuery's parameters to keyword arguments of `lookup.board_or_404`; {}: the current board."""
    if "gold_version" not in params:
        return {}
    return {"gold": params["gold_version"], "task_version": params["task_version"]}


def read(query: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    """Return the validated query parameters; raise ValidationError, which names each invalid parameter."""
    return dict(_validated(query, tuple(request.query_params.dict().items())))


@lru_cache(maxsize=256)
def _validated(query: type[serializers.Serializer[Any]], items: tuple[tuple[str, str], ...]) -> Mapping[str, Any]:
    """Validate query parameters, given as (name, value) pairs.

    Results are cached, because the creation of a serializer copies all of its fields.
    """
    serializer = query(data=dict(items))
    serializer.is_valid(raise_exception=True)
    return MappingProxyType(serializer.validated_data)
