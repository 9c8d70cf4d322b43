"""Output files of a custom scorer, read as strictly as predictions: scores.json, and outcomes.jsonl if present.

    scores.json     {"task", "task_version", "n_units", "n_groups", "scores", "warnings"}, as `score --json` prints it
    outcomes.jsonl  one line per unit: {"id", "group"?, "slices"?: {...}, "values": {measure: number}}

A measure with per-unit values is their mean; its intervals are computed here by resampling groups, as for every task.
Errors never quote the output: a scorer has seen gold, and could write gold anywhere into it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, NoReturn

import msgspec

from evaluator.custom_scorer.measures import MeasureDeclaration, bounds
from evaluator.errors import FileError, Problem
from evaluator.jsonl.strict_json import LineError, Schema, unknown_keys
from evaluator.outcomes.table import SliceValue

SCORES = "scores.json"
DEPTH = 8
MOST = 2**31 - 1
"""Largest number of units or groups and largest n: the maximum of a database integer."""
_UNKNOWN = re.compile(r"unknown field `.*", re.S)
"""Matches from the name of an unknown field to the end of msgspec's message. The end cannot be told from the name: a
name may contain backticks, and text like the path that follows it."""


class ScorerError(FileError):
    """Error for invalid output of a custom scorer, which the benchmark's organisers have to fix.

    Its text never quotes the output.
    """


class Row(msgspec.Struct, forbid_unknown_fields=True):
    """One score: one measure on one slice.

    n: number of gold units that the value is computed from. low, high: always null, since intervals are computed from
    outcomes.jsonl.
    """

    measure: str
    slice: dict[str, str | int | float | bool]
    value: float | None
    n: int
    low: None = None
    high: None = None


class Scores(msgspec.Struct, forbid_unknown_fields=True):
    """Content of scores.json. The warnings are never shown to anybody; only their number is."""

    task: str
    task_version: int
    n_units: int
    n_groups: int
    scores: list[Row]
    warnings: list[str] = []


@dataclass(frozen=True)
class Expected:
    """Requirements on a custom scorer's output.

    task_version: the number of the scorer's version; measures: as the scorer declares them; primary: the name of the
    measure that ranks, which must have a value; dimensions: name -> values of each dimension of the gold version.
    """

    task: str
    task_version: int
    measures: Sequence[MeasureDeclaration]
    primary: str
    dimensions: Mapping[str, Sequence[SliceValue]]


_SHAPE = Schema(
    frozenset({"task", "task_version", "n_units", "n_groups", "scores", "warnings"}),
    {
        "scores": Schema(
            frozenset({"measure", "slice", "value", "low", "high", "n"}), {"slice": Schema(frozenset(), free=True)}
        )
    },
)

SliceKey = tuple[tuple[str, str, SliceValue], ...]


def slice_key(slice_: Mapping[str, SliceValue]) -> SliceKey:
    """Return a hashable key of a slice.

    slice_: dimension -> value. The key does not depend on the order of the dimensions, and distinguishes the values 1,
    1.0, true and "1".
    """
    return tuple(sorted((name, type(value).__name__, value) for name, value in slice_.items()))


def read_scores(stream: BinaryIO, expected: Expected) -> Scores:
    """Read and check scores.json. Raises ScorerError if it is invalid.

    Values must be within the bounds of their measures and on slices of the gold. No measure may occur twice on one
    slice, every declared measure must have a row for the whole gold, and the value of the primary measure there must
    not be null.
    """
    scores = _decoded(stream.read())
    if scores.task != expected.task:
        _refuse(f"task is not that of the phase, expected {expected.task}")
    if scores.task_version != expected.task_version:
        _refuse(f"task_version is not the scorer's version, expected {expected.task_version}")
    if not 1 <= scores.n_groups <= scores.n_units <= MOST:
        _refuse(f"n_units and n_groups are not valid, expected 1 <= n_groups <= n_units <= {MOST}")
    bounds_by_name = {measure.name: bounds(measure) for measure in expected.measures}
    seen: set[tuple[str, SliceKey]] = set()
    for index, row in enumerate(scores.scores):
        _check_row(row, f"scores[{index}]", bounds_by_name, expected.dimensions)
        key = (row.measure, slice_key(row.slice))
        if key in seen:
            _refuse(f"scores[{index}] is a duplicate: {row.measure} on the same slice")
        seen.add(key)
    missing = [name for name in bounds_by_name if (name, ()) not in seen]
    if missing:
        _refuse(f"the whole (slice {{}}) has no row for {', '.join(missing)}, expected one for each declared measure")
    whole = next(row for row in scores.scores if row.measure == expected.primary and not row.slice)
    if whole.value is None:
        _refuse(f"the primary measure {expected.primary} has no value on the whole (slice {{}}), expected a number")
    return scores


def _decoded(content: bytes) -> Scores:
    try:
        # msgspec accepts duplicate keys, NaN and numbers beyond float64.
        unknown_keys(content, _SHAPE, DEPTH)
        return msgspec.json.decode(content, type=Scores)
    except LineError as line_error:
        _refuse(f"{line_error.what}, expected {line_error.expected or 'the published schema'}")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        text = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else _UNKNOWN.sub("unknown field", str(error))
        _refuse(f"the file does not fit the published schema: {text}")


def _check_row(
    row: Row,
    where: str,
    bounds_by_name: Mapping[str, tuple[float, float]],
    dimensions: Mapping[str, Sequence[SliceValue]],
) -> None:
    if row.measure not in bounds_by_name:
        _refuse(f"{where} names an unknown measure, expected one of: {', '.join(bounds_by_name)}")
    check_slice(row.slice, f"{where}.slice", dimensions)
    lower, upper = bounds_by_name[row.measure]
    if row.value is not None and not (math.isfinite(row.value) and lower <= row.value <= upper):
        _refuse(f"{where}, {row.measure}, is outside its bounds, {lower:g} to {upper:g}")
    if row.n < 0:
        _refuse(f"{where}, {row.measure}, has a negative n, expected 0 or more")
    if row.n == 0 and row.value is not None:
        _refuse(f"{where}, {row.measure}, has a value although n is 0, expected null")
    if row.n > MOST:
        _refuse(f"{where}, {row.measure}, has an n that is too large, expected at most {MOST}")


def check_slice(
    slice_: Mapping[str, SliceValue], where: str, dimensions: Mapping[str, Sequence[SliceValue]], file: str = SCORES
) -> None:
    """Raise ScorerError if a dimension of the slice, or the slice's value of it, does not occur in the gold version.

    where: the location in the file, for the error text; dimensions: name -> values of each dimension of the gold
    version.
    """
    for name, value in slice_.items():
        if name not in dimensions:
            known = ", ".join(dimensions) or "none: the gold has no slices"
            _refuse(f"{where} names an unknown dimension, expected one of: {known}", file)
        if not any(type(known_value) is type(value) and known_value == value for known_value in dimensions[name]):
            _refuse(f"{where} names a value that the gold's {name} does not have", file)


def _refuse(what: str, file: str = SCORES) -> NoReturn:
    raise ScorerError([Problem(file, None, what)])
