"""What an organiser's own scorer wrote, read as strictly as predictions are: scores.json, and outcomes.jsonl if any.

    scores.json     {"task", "task_version", "n_units", "n_groups", "scores", "warnings"}: what `score --json` prints
    outcomes.jsonl  a line a unit: {"id", "group"?, "slices"?: {...}, "values": {measure: number}}

A measure with values unit by unit is their mean; its intervals are made here, from resampled groups, as for every task.
What is wrong is told without quoting what was found: a scorer has seen gold, and could write it anywhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO, NoReturn

import msgspec

from evaluator.custom_scorer.measures import Declared, bounds
from evaluator.errors import FileError, Problem
from evaluator.jsonl.strict_json import LineFault, Shape, unknown_keys
from evaluator.outcomes.table import SliceValue

SCORES = "scores.json"
DEPTH = 8
MOST = 2**31 - 1
"""Of units, groups and n: what a database keeps as a whole number."""
_UNKNOWN = re.compile(r"unknown field `.*", re.S)
"""With all that follows: a name may hold backticks, and look like the path that stands after it."""


class ScorerError(FileError):
    """The scorer's output cannot be ranked: its benchmark's organisers' to mend. Its text quotes nothing of it."""


class Row(msgspec.Struct, forbid_unknown_fields=True):
    """One measure on one slice. low, high: null; intervals are made from outcomes."""

    measure: str
    slice: dict[str, str | int | float | bool]
    value: float | None
    n: int
    low: None = None
    high: None = None


class Scores(msgspec.Struct, forbid_unknown_fields=True):
    """The file. Warnings are counted, and shown to nobody."""

    task: str
    task_version: int
    n_units: int
    n_groups: int
    scores: list[Row]
    warnings: list[str] = []


@dataclass(frozen=True)
class Expected:
    """What a scorer's output must fit. dimensions: of the gold version, with their values."""

    task: str
    task_version: int
    measures: Sequence[Declared]
    primary: str
    dimensions: Mapping[str, Sequence[SliceValue]]


_SHAPE = Shape(
    frozenset({"task", "task_version", "n_units", "n_groups", "scores", "warnings"}),
    {
        "scores": Shape(
            frozenset({"measure", "slice", "value", "low", "high", "n"}), {"slice": Shape(frozenset(), free=True)}
        )
    },
)

SliceKey = tuple[tuple[str, str, SliceValue], ...]


def slice_key(slice_: Mapping[str, SliceValue]) -> SliceKey:
    """Tells 1, 1.0, true and "1" apart, in whatever order the dimensions come."""
    return tuple(sorted((name, type(value).__name__, value) for name, value in slice_.items()))


def read_scores(stream: BinaryIO, expected: Expected) -> Scores:
    """The scores, each within its bounds, on slices that the gold has, none twice. Raises ScorerError."""
    found = _decoded(stream.read())
    if (found.task, found.task_version) != (expected.task, expected.task_version):
        _refuse(f"task and task_version are others, expected {expected.task} and {expected.task_version}")
    if not 1 <= found.n_groups <= found.n_units <= MOST:
        _refuse(f"n_units and n_groups do not fit, expected 1 <= n_groups <= n_units <= {MOST}")
    known = {measure.name: bounds(measure) for measure in expected.measures}
    seen: set[tuple[str, SliceKey]] = set()
    for place, row in enumerate(found.scores):
        _check_row(row, f"scores[{place}]", known, expected.dimensions)
        key = (row.measure, slice_key(row.slice))
        if key in seen:
            _refuse(f"scores[{place}] is the second of {row.measure} on one slice")
        seen.add(key)
    missing = [name for name in known if (name, ()) not in seen]
    if missing:
        _refuse(f"the whole ({{}}) has no row of {', '.join(missing)}, expected one of each measure declared")
    whole = next(row for row in found.scores if row.measure == expected.primary and not row.slice)
    if whole.value is None:
        _refuse(f"the primary measure {expected.primary} has no value on the whole")
    return found


def _decoded(content: bytes) -> Scores:
    try:
        # What msgspec takes: keys that come twice, NaN, numbers beyond float64.
        unknown_keys(content, _SHAPE, DEPTH)
        return msgspec.json.decode(content, type=Scores)
    except LineFault as fault:
        _refuse(f"{fault.what}, expected {fault.expected or 'the published schema'}")
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        text = "it is not UTF-8" if isinstance(error, UnicodeDecodeError) else _UNKNOWN.sub("unknown field", str(error))
        _refuse(f"it does not fit the published schema: {text}")


def _check_row(
    row: Row, where: str, known: Mapping[str, tuple[float, float]], dimensions: Mapping[str, Sequence[SliceValue]]
) -> None:
    if row.measure not in known:
        _refuse(f"{where} names an unknown measure, expected one of: {', '.join(known)}")
    check_slice(row.slice, f"{where}.slice", dimensions)
    low, high = known[row.measure]
    if row.value is not None and not (math.isfinite(row.value) and low <= row.value <= high):
        _refuse(f"{where}, {row.measure}, lies outside its bounds, {low:g} to {high:g}")
    if row.n < 0 or (row.n == 0 and row.value is not None):
        _refuse(f"{where}, {row.measure}, has a negative n, or a value that rests on nothing")
    if row.n > MOST:
        _refuse(f"{where}, {row.measure}, has a larger n than is kept, expected at most {MOST}")


def check_slice(
    slice_: Mapping[str, SliceValue], where: str, dimensions: Mapping[str, Sequence[SliceValue]], file: str = SCORES
) -> None:
    """Raises ScorerError for a dimension, or a value of one, that the gold version does not have."""
    for name, value in slice_.items():
        if name not in dimensions:
            known = ", ".join(dimensions) or "none: the gold has no slices"
            _refuse(f"{where} names an unknown dimension, expected one of: {known}", file)
        if not any(type(one) is type(value) and one == value for one in dimensions[name]):
            _refuse(f"{where} names a value that the gold's {name} does not have", file)


def _refuse(what: str, file: str = SCORES) -> NoReturn:
    raise ScorerError([Problem(file, None, what)])
