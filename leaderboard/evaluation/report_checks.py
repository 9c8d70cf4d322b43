"""Validation of a scorer's untrusted report: only known measures, with values that are finite and within bounds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from evaluator.jobs.score import ScoreReport, ScoreRow
from evaluator.jobs.similarity import SketchReport
from evaluator.measures.base import Measure
from evaluator.similarity.predictions import SIZE
from leaderboard.evaluation import plot_checks

T = TypeVar("T")


class ReportError(Exception):
    """The report of a sandbox job is invalid, so it must not be used. The message quotes no value of gold."""


def convert_report(report: Mapping[str, Any], kind: type[T]) -> T:
    """Convert a job's report to the type `kind`, ignoring the key `ok`.

    Raises ReportError if the report does not fit the type.
    """
    try:
        return msgspec.convert({name: value for name, value in report.items() if name != "ok"}, kind)
    except msgspec.ValidationError as error:
        raise ReportError(f"the report does not fit its declared type: {error}") from error


def checked(report: dict[str, Any], *, task: str, task_version: int, measures: Sequence[Measure]) -> ScoreReport:
    """Convert a scoring job's report to a ScoreReport, validate and return it. The other arguments are as for `check`.

    Raises ReportError.
    """
    scored = convert_report(report, ScoreReport)
    check(scored, task=task, task_version=task_version, measures=measures)
    return scored


def check(scored: ScoreReport, *, task: str, task_version: int, measures: Sequence[Measure]) -> None:
    """Raise ReportError for a report that no correct scorer can have written.

    task: name of the task. task_version: version of the task that scored, or the custom scorer's number. measures: the
    measures that can be computed on the gold: each must have an overall score, and no other measure may have a score.
    """
    known = {measure.name: measure for measure in measures}
    if scored.result.task != task:
        raise ReportError(f"the report is for another task, expected {task}")
    if scored.result.task_version != task_version:
        raise ReportError(f"the report is for version {scored.result.task_version} of {task}, expected {task_version}")
    if scored.groups and len(scored.groups) != len(scored.scores):
        raise ReportError(
            f"the report has {len(scored.groups)} numbers of groups for {len(scored.scores)} scores, "
            "expected one number for each score"
        )
    if scored.groups and min(scored.groups) < 0:
        raise ReportError(f"the report has {min(scored.groups)} as a number of groups, expected 0 or more")
    if scored.sketch:
        check_sketch(scored.sketch)
    if scored.plot_data and (wrong := plot_checks.problem(scored.plot_data)):
        raise ReportError(wrong)
    seen: set[tuple[str, str]] = set()
    for row in scored.scores:
        _check_row(row, known)
        key = (row.measure, msgspec.json.encode(row.slice, order="sorted").decode())
        if key in seen:
            raise ReportError(f"the report lists measure {row.measure} twice for one slice, expected once")
        seen.add(key)
    whole = {row.measure for row in scored.scores if not row.slice}
    missing = sorted(known.keys() - whole)
    if missing or scored.primary not in whole:
        raise ReportError(f"overall scores are missing: {', '.join(missing) or scored.primary}")


def check_sketch(sketch: SketchReport) -> None:
    """Raise ReportError for a similarity sketch with too many numbers, or with numbers out of range."""
    numbers = sketch.signature
    if len(numbers) > SIZE or not all(0 <= number < 1 << 63 for number in numbers):
        raise ReportError(
            f"the similarity sketch has {len(numbers)} numbers, expected at most {SIZE}, each from 0 to 2**63 - 1"
        )


def _check_row(row: ScoreRow, known: Mapping[str, Measure]) -> None:
    if row.measure not in known:
        raise ReportError(f"the report has an unknown measure, expected only {', '.join(known)}")
    measure = known[row.measure]
    for name, number in (("value", row.value), ("interval's lower end", row.low), ("interval's upper end", row.high)):
        if number is not None and not math.isfinite(number):
            raise ReportError(f"measure {row.measure}: the {name} is not finite, expected a finite number")
        if number is not None and not measure.low <= number <= measure.high:
            bounds = f"{measure.low:g} to {measure.high:g}"
            raise ReportError(f"measure {row.measure}: the {name} {number!r} is outside the measure's bounds, {bounds}")
    if row.n < 0:
        raise ReportError(f"measure {row.measure}: the number of units of a slice is {row.n}, expected 0 or more")
    if row.n == 0 and row.value is not None:
        raise ReportError(f"measure {row.measure}: a slice without units has a value, expected none")
    if (row.low is None) != (row.high is None):
        missing = "lower" if row.low is None else "upper"
        raise ReportError(f"measure {row.measure}: an interval has no {missing} end, expected both ends or none")
    if row.low is not None and row.high is not None and row.low > row.high:
        raise ReportError(f"measure {row.measure}: an interval's lower end is above its upper end")
