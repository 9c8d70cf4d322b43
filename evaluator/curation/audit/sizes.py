"""Sizes of a split and its slices, their groups, and the expected widths of confidence intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluator.curation.audit import expected_intervals
from evaluator.curation.audit.audited_split import AuditedSplit
from evaluator.measures.auroc import Auroc
from evaluator.measures.base import Measure
from evaluator.outcomes.table import Numbers, Outcomes, SliceValue
from evaluator.tasks.audit.findings import Finding, Severity

_WIDE = 0.1
_FEW = 10
_NAMED = 10


@dataclass(frozen=True)
class SliceSize:
    """Size of one slice.

    slice: {} is the whole split. n: the number of gold units. groups: the number of groups with a unit. largest_group:
    the number of units of the largest group. width: the expected half-width of the confidence interval of the ranking
    measure.
    """

    slice: Mapping[str, SliceValue]
    n: int
    groups: int
    largest_group: int
    width: expected_intervals.Width

    def as_dict(self) -> dict[str, Any]:
        return {
            "slice": dict(self.slice),
            "n": self.n,
            "groups": self.groups,
            "largest_group": self.largest_group,
            "at": self.width.at,
            "half_width": self.width.independent,
            "half_width_if_groups_err_together": self.width.shared,
        }


def sizes(split: AuditedSplit, outcomes: Outcomes) -> tuple[list[SliceSize], list[Finding]]:
    """Return the sizes of the whole split and of each slice with units, the whole first, and findings.

    Findings: slices with few groups, and slices whose confidence intervals will be wide. outcomes: the outcomes of an
    empty submission (`Task.empty_answers`), so that all rows come from the gold.
    """
    measure = split.measure
    rows = [_size_of(measure, outcomes, {}, np.ones(outcomes.n_rows, dtype=np.bool_))]
    for name, dimension in outcomes.dimensions.items():
        for code, value in enumerate(dimension.values):
            rows.append(_size_of(measure, outcomes, {name: value}, dimension.codes == code))
    rows = [row for row in rows if row.n or not row.slice]
    return rows, [*_too_few(split, rows), *_too_wide(split, rows, measure.name)]


def _size_of(
    measure: Measure,
    outcomes: Outcomes,
    slice_: Mapping[str, SliceValue],
    rows: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
) -> SliceSize:
    groups, total = outcomes.groups[rows], np.zeros(int(rows.sum()))
    for name, factor in (measure.reported_units or measure.units).terms.items():
        total = total + factor * outcomes.statistics[name][rows]
    units = _by_group(groups, total)
    if isinstance(measure, Auroc):
        true = _by_group(groups, outcomes.statistics[measure.positive][rows])
        width = expected_intervals.auroc(true, _by_group(groups, np.ones(len(groups))) - true)
    else:
        width = expected_intervals.MODELS[measure.variance](units)
    return SliceSize(
        slice_, round(float(total.sum())), int((units > 0).sum()), round(float(units.max(initial=0))), width
    )


def _by_group(groups: np.ndarray[tuple[int, ...], np.dtype[np.int32]], values: Numbers) -> Numbers:
    return np.bincount(groups, weights=values).astype(np.float64)


def _too_few(split: AuditedSplit, rows: list[SliceSize]) -> list[Finding]:
    few = [row for row in rows if row.groups < _FEW]
    if not few:
        return []
    return [
        Finding(
            Severity.WARNING,
            "few-groups",
            f"{len(few)} of {len(rows)} slices have fewer than {_FEW} groups: {_slice_names(few)}",
            "confidence intervals from so few groups mean little, and the score reveals each group's answers",
            "collect more data, leave the slice out of boards, or state why you keep it",
            split.file,
            numbers={"slices": [row.as_dict() for row in few[:_NAMED]], "least": _FEW},
        )
    ]


def _too_wide(split: AuditedSplit, rows: list[SliceSize], measure: str) -> list[Finding]:
    wide = [row for row in rows if row.groups >= _FEW and (row.width.independent or 0) > _WIDE]
    if not wide:
        return []
    first = wide[0]
    return [
        Finding(
            Severity.NOTE,
            "wide-intervals",
            f"{len(wide)} of {len(rows)} slices will have intervals wider than ±{_WIDE:g}: {_slice_names(wide)}",
            f"n={first.n}: {measure} {first.width.at:g} has an interval of ±{first.width.independent:.2f}; smaller "
            "differences between systems are usually not significant",
            "collect more data, or draw no conclusions from these slices",
            split.file,
            numbers={"slices": [row.as_dict() for row in wide[:_NAMED]], "more_than": _WIDE},
        )
    ]


def _slice_names(rows: list[SliceSize]) -> str:
    names = [", ".join(f"{k}={v}" for k, v in row.slice.items()) or "all" for row in rows[:_NAMED]]
    return "; ".join(names) + ("; ..." if len(rows) > _NAMED else "")
