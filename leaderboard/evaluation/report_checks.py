"""Validate a scorer's untrusted report: known measures, finite values, within their bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from evaluator.jobs.score import ScoreReport, ScoreRow
from evaluator.measures.base import Measure
from leaderboard.evaluation import plot_checks

T = TypeVar("T")


class ReportError(Exception):
    """A report that must not be ranked; the message names the problem, never a value of gold."""


def in_shape(report: Mapping[str, Any], kind: type[T]) -> T:
    """Convert a job's report, without `ok`, to its declared type. Raises ReportError."""
    try:
        return msgspec.convert({name: value for name, value in report.items() if name != "ok"}, kind)
    except msgspec.ValidationError as error:
        raise ReportError(f"the report's shape is wrong: {error}") from error


def checked(report: dict[str, Any], *, task: str, task_version: int, measures: Sequence[Measure]) -> ScoreReport:
    """Return the report as typed rows, validated by `check`. Raises ReportError."""
    scored = in_shape(report, ScoreReport)
    check(scored, task=task, task_version=task_version, measures=measures)
    return scored


def check(scored: ScoreReport, *, task: str, task_version: int, measures: Sequence[Measure]) -> None:
    """Raise ReportError for anything that a correct scorer cannot have written.

    measures: those that exist for the gold; each must have an overall score.
    """
    known = {measure.name: measure for measure in measures}
    if (scored.result.task, scored.result.task_version) != (task, task_version):
        raise ReportError("the report is for another task or task version")
    if scored.groups and (len(scored.groups) != len(scored.scores) or min(scored.groups) < 0):
        raise ReportError("the report does not have exactly one number of groups per score")
    if scored.plot_data and (wrong := plot_checks.problem(scored.plot_data)):
        raise ReportError(wrong)
    seen: set[tuple[str, str]] = set()
    for row in scored.scores:
        _check_row(row, known)
        key = (row.measure, msgspec.json.encode(row.slice, order="sorted").decode())
        if key in seen:
            raise ReportError(f"measure {row.measure} is listed twice for one slice")
        seen.add(key)
    whole = {row.measure for row in scored.scores if not row.slice}
    missing = sorted(known.keys() - whole)
    if missing or scored.primary not in whole:
        raise ReportError(f"measures are missing: {', '.join(missing) or scored.primary}")


def _check_row(row: ScoreRow, known: Mapping[str, Measure]) -> None:
    if row.measure not in known:
        raise ReportError("a measure is not one of the task's")
    numbers = [number for number in (row.value, row.low, row.high) if number is not None]
    if not all(math.isfinite(number) for number in numbers):
        raise ReportError(f"measure {row.measure} is not finite")
    measure = known[row.measure]
    if not all(measure.low <= number <= measure.high for number in numbers):
        raise ReportError(f"measure {row.measure} is outside its bounds")
    if row.n < 0 or (row.n == 0 and row.value is not None):
        raise ReportError(f"measure {row.measure} has a value on an empty slice, or a negative n")
    if (row.low is None) != (row.high is None) or (row.low is not None and row.high is not None and row.low > row.high):
        raise ReportError(f"measure {row.measure} has an interval whose ends are not in order")
