"""API views of `/tasks/`: tasks with their file formats and measures."""

from __future__ import annotations

import math
from typing import Any

from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from evaluator.tasks.registry import TASKS
from leaderboard.core.api import addresses
from leaderboard.core.api.base import View
from leaderboard.core.api.serializers import errors


class MeasureSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    title = serializers.CharField()
    doc = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]  # shadows an attribute of fields, not of serializers
    low = serializers.FloatField(allow_null=True, help_text="lowest possible value; null: unbounded")
    high = serializers.FloatField(allow_null=True)
    higher_is_better = serializers.BooleanField(allow_null=True, help_text="null: neither direction is better")


class OptionSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    doc = serializers.CharField()
    default = serializers.CharField(allow_blank=True)


class DimensionSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    doc = serializers.CharField()


class TaskLine(serializers.Serializer[Any]):
    name = serializers.CharField()
    version = serializers.IntegerField(help_text="raised when scores may change")
    title = serializers.CharField()
    summary = serializers.CharField()
    url = serializers.URLField()


class TaskSerializer(TaskLine):
    gold_format = serializers.CharField()
    prediction_format = serializers.CharField()
    prediction_example = serializers.CharField(help_text="lines of a predictions file")
    measures = MeasureSerializer(many=True)
    dimensions = DimensionSerializer(many=True)
    options = OptionSerializer(many=True)


def _line(task: Any, request: Request) -> dict[str, Any]:
    names = ("name", "version", "title", "summary")
    return {**{name: getattr(task, name) for name in names}, "url": addresses.of(request, "api_task", task.name)}


def _measure(measure: Any) -> dict[str, Any]:
    names = ("name", "title", "doc", "source", "higher_is_better")
    bounds = {end: getattr(measure, end) if math.isfinite(getattr(measure, end)) else None for end in ("low", "high")}
    return {**{name: getattr(measure, name) for name in names}, **bounds}


def _details(task: Any, request: Request) -> dict[str, Any]:
    names = ("gold_format", "prediction_format", "prediction_example", "dimensions", "options")
    return {
        **_line(task, request),
        **{name: getattr(task, name) for name in names},
        "measures": [_measure(measure) for measure in task.measures],
    }


class TasksView(View):
    @extend_schema(operation_id="task_list", responses={200: TaskLine(many=True), **errors()})
    def get(self, request: Request) -> Response:
        """List all tasks."""
        return Response(TaskLine([_line(task, request) for task in TASKS.values()], many=True).data)


class TaskView(View):
    @extend_schema(operation_id="task", responses={200: TaskSerializer, **errors()})
    def get(self, request: Request, name: str) -> Response:
        """Return a task: formats, options, dimensions and measures."""
        if name not in TASKS:
            raise Http404
        return Response(TaskSerializer(_details(TASKS[name], request)).data)
