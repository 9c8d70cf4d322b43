"""Serializers of errors and scores, which several features share.

Serializers that only one feature uses are in its `api/serializers.py`, or next to the view that uses them.
"""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from evaluator.statistics import confidence
from leaderboard.core.api import problem_details


class ProblemSerializer(serializers.Serializer[Any]):
    """One problem in a file, with its line number."""

    file = serializers.CharField()
    line = serializers.IntegerField(allow_null=True, help_text="null: the file as a whole")
    what = serializers.CharField()
    found = serializers.CharField()
    expected = serializers.CharField()
    text = serializers.CharField(help_text="the problem on one line: FILE:LINE: what, found ..., expected ...")
    count = serializers.IntegerField(
        default=1, help_text="number of problems in the file with the same `what`, further ones included"
    )


class ErrorSerializer(serializers.Serializer[Any]):
    """An error response of the API: problem details as in RFC 9457, with further members."""

    type = serializers.URLField(help_text="the kind of error, as the address of its description")
    title = serializers.CharField(help_text="the name of the HTTP status")
    status = serializers.IntegerField(help_text="the HTTP status")
    detail = serializers.CharField(help_text="the same as `message`")
    instance = serializers.CharField(
        required=False, help_text="path and id of the request; the id is also in the header X-Request-ID and in the log"
    )
    code = serializers.CharField(help_text="the kind of error, for programs to test")
    message = serializers.CharField(help_text="what went wrong, for people; its wording may change")
    fields = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()),
        required=False,
        help_text="problems by parameter (code `invalid`)",
    )
    problems = ProblemSerializer(many=True, required=False, help_text="the first 100 problems")
    more = serializers.IntegerField(required=False, help_text="number of further problems")


def errors(*statuses: int) -> dict[tuple[int, str], type[ErrorSerializer]]:
    """Return the error responses of an operation by (status, media type), for `extend_schema(responses=...)`.

    statuses: HTTP statuses in addition to those that every operation may return.
    """
    common = {400, 401, 403, 404, 405, 429}
    return {(status, problem_details.MEDIA_TYPE): ErrorSerializer for status in sorted({*statuses, *common})}


class ScoreSerializer(serializers.Serializer[Any]):
    """Score of a system by one measure on one slice of the data, as far as the phase reveals it."""

    measure = serializers.CharField()
    slice = serializers.DictField(child=serializers.CharField(), help_text="{}: all units")
    value = serializers.FloatField(allow_null=True, help_text="null: the measure has no value on this slice")
    low = serializers.FloatField(
        allow_null=True,
        help_text=f"lower end of the {confidence.percent()} confidence interval, which ends at `high`; null: none",
    )
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField(help_text="number of gold units behind the value")
    at_least = serializers.FloatField(
        required=False,
        allow_null=True,
        help_text="only on a ladder, where `value` is rounded: the true score is at least this; null: no such bound",
    )
    at_most = serializers.FloatField(
        required=False, allow_null=True, help_text="only on a ladder: the true score is at most this; null: unknown"
    )
