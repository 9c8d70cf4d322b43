"""Per-unit outcomes of a custom scorer: read strictly, and checked against scores.json."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import BinaryIO, NoReturn

import msgspec
import numpy as np

from evaluator.custom_scorer.measures import bounds, measures_of, presence_statistic
from evaluator.custom_scorer.scores_file import Expected, Row, ScorerError, Scores, check_slice, slice_key
from evaluator.errors import Problem
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import Id, IdRegister
from evaluator.jsonl.reader import Format, Reader
from evaluator.jsonl.strict_json import Schema
from evaluator.outcomes.table import Codes, Dimension, Outcomes, SliceValue
from evaluator.scoring.score import Score, score_outcomes

OUTCOMES = "outcomes.jsonl"
TOLERANCE = 1e-9
_LARGEST = 1e100  # a sum of a million such values stays finite


class Line(msgspec.Struct, gc=False):
    """One line of outcomes.jsonl: a unit with its values by measure; a measure may be missing."""

    id: str | int
    values: dict[str, float]
    group: str | int | msgspec.UnsetType = msgspec.UNSET
    slices: dict[str, str | int | float | bool] | msgspec.UnsetType = msgspec.UNSET


def _count_keys(line: Line) -> int:
    optional = 0 if line.group is msgspec.UNSET else 1
    optional += 0 if line.slices is msgspec.UNSET else 1 + len(line.slices)
    return optional + 2 + len(line.values)


_FREE = Schema(frozenset(), free=True)
LAYOUT = Format(
    Line, Schema(frozenset({"id", "group", "slices", "values"}), {"slices": _FREE, "values": _FREE}), _count_keys
)


def read_outcomes(stream: BinaryIO, expected: Expected, scores: Scores, most_bytes: int) -> Outcomes:
    """Read outcomes.jsonl into a table.

    If at least one unit has a value of a measure, the table has two statistics for the measure: one with the measure's
    name, which has the values (0 where a unit has none), and one with the name that `presence_statistic` gives.
    expected: the requirements on the file, such as the declared measures. scores: the content of scores.json.
    most_bytes: the maximum size of the file. Raises ScorerError if the file is invalid or does not fit scores.json.
    """
    reader = Reader(OUTCOMES, LAYOUT, ScorerError, ReadLimits(file_bytes=most_bytes))
    register = IdRegister(reader.problems)
    bounds_by_name = {measure.name: bounds(measure) for measure in expected.measures}
    groups: dict[tuple[type, Id], int] = {}
    codes: list[int] = []
    lines: list[Line] = []
    try:
        for number, line in reader.records(stream):
            register.add(line.id, number)
            _check(line, number, bounds_by_name, expected.dimensions)
            group = line.id if line.group is msgspec.UNSET else line.group
            codes.append(groups.setdefault((type(group), group), len(groups)))
            lines.append(line)
        reader.problems.raise_if_any()
    except ScorerError as error:
        raise ScorerError([_unquoted(problem) for problem in error.problems[:10]], error.more) from None
    if reader.warnings:
        _refuse("a line has keys that are not in the schema, expected id, group, slices and values")
    if len(lines) != scores.n_units:
        _refuse("the number of lines differs from n_units in scores.json")
    if len(groups) != scores.n_groups:
        _refuse("the number of groups differs from n_groups in scores.json")
    return _table(lines, np.array(codes, dtype=np.int32), tuple(name for _, name in groups), expected)


def _check(
    line: Line,
    number: int,
    bounds_by_name: Mapping[str, tuple[float, float]],
    dimensions: Mapping[str, Sequence[SliceValue]],
) -> None:
    for name, value in line.values.items():
        if name not in bounds_by_name:
            _refuse(f"a value of an unknown measure, expected one of: {', '.join(bounds_by_name)}", number)
        lower, upper = bounds_by_name[name]
        if not (lower <= value <= upper and abs(value) <= _LARGEST):
            _refuse(f"a value of {name} is outside its bounds, {lower:g} to {upper:g}", number)
    if line.slices is not msgspec.UNSET:
        check_slice(line.slices, f"line {number}", dimensions, OUTCOMES)


def _table(lines: Sequence[Line], groups: Codes, names: tuple[Id, ...], expected: Expected) -> Outcomes:
    statistics = {}
    for measure in expected.measures:
        is_present = np.array([measure.name in line.values for line in lines], dtype=np.float64)
        if is_present.any():
            statistics[measure.name] = np.array([line.values.get(measure.name, 0.0) for line in lines], dtype=float)
            statistics[presence_statistic(measure.name)] = is_present
    slices = [{} if line.slices is msgspec.UNSET else line.slices for line in lines]
    columns = {name: [unit_slices.get(name) for unit_slices in slices] for name in expected.dimensions}
    return Outcomes(
        task=expected.task,
        task_version=expected.task_version,
        n_units=len(lines),
        group_names=names,
        groups=groups,
        statistics=statistics,
        dimensions={
            name: Dimension.build(column, groups, declared=True)
            for name, column in columns.items()
            if any(value is not None for value in column)
        },
        # Outcomes of a task lack the fact "scorer", so they are not taken for those of a custom scorer. With the digest
        # systems are checked for having the same units, since gold determines the units.
        facts={"scorer": expected.task_version, "units_sha256": _digest(lines, [*statistics])},
    )


def _digest(lines: Sequence[Line], statistics: Sequence[str]) -> str:
    digest = hashlib.sha256(msgspec.json.encode(statistics))
    for line in lines:
        group = line.id if line.group is msgspec.UNSET else line.group
        slices = None if line.slices is msgspec.UNSET else line.slices
        digest.update(msgspec.json.encode([line.id, group, slices], order="sorted"))
    return digest.hexdigest()


def with_intervals(
    scores: Scores, table: Outcomes, expected: Expected, *, resamples: int, seed: int
) -> tuple[list[Score], list[str]]:
    """Return (the scores as boards show them, the names of the measures that have per-unit values).

    scores: the content of scores.json; table: the per-unit outcomes; resamples, seed: those of the bootstrap. Scores of
    measures with per-unit values get the value and the interval that are computed from the table; all other scores are
    as in scores.json, without interval. Raises ScorerError if the mean of a measure's per-unit values differs from its
    value in scores.json by more than TOLERANCE.
    """
    measures = [measure for measure in measures_of(expected.measures) if measure.name in table.statistics]
    computed = score_outcomes(table, measures, resamples=resamples, seed=seed)
    computed_by_key = {(score.measure, slice_key(score.slice)): score for score in computed}
    published = []
    for index, row in enumerate(scores.scores):
        score = computed_by_key.get((row.measure, slice_key(row.slice)))
        if score is None:
            published.append(_plain(row))
            continue
        if (score.value is None) != (row.value is None) or not _close(score.value or 0.0, row.value or 0.0):
            _refuse(
                f"the mean of {row.measure} differs from the value of scores[{index}] in scores.json by more than "
                f"{TOLERANCE:g}"
            )
        published.append(Score(row.measure, row.slice, score.value, score.low, score.high, row.n))
    return published, [measure.name for measure in measures]


def without_intervals(scores: Scores) -> list[Score]:
    """Return the scores of a scorer without outcomes.jsonl as boards show them: without confidence intervals."""
    return [_plain(row) for row in scores.scores]


def _plain(row: Row) -> Score:
    return Score(row.measure, row.slice, row.value, None, None, row.n)


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE)


def _unquoted(problem: Problem) -> Problem:
    return Problem(problem.file, problem.line, problem.what, "", problem.expected)


def _refuse(what: str, line: int | None = None) -> NoReturn:
    raise ScorerError([Problem(OUTCOMES, line, what)])
