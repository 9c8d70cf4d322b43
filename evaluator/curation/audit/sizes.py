"""Sizes of a split and of its slices, its groups, and the intervals to expect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evaluator.curation.audit import expected_intervals
from evaluator.measures.auroc import Auroc
from evaluator.measures.base import Measure
from evaluator.outcomes.table import Numbers, Outcomes, SliceValue
from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.split import Split

_WIDE = 0.1
_FEW = 10
_NAMED = 10


@dataclass(frozen=True)
class Sized:
    """One slice; {} is the whole. n: gold units. groups: of them that have one."""

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


def sizes(split: Split, outcomes: Outcomes) -> tuple[list[Sized], list[Finding]]:
    """outcomes: of the split where nothing was found (`Task.unanswered`), whose rows and slices are gold's."""
    measure = split.measure
    found = [_sized(measure, outcomes, {}, np.ones(outcomes.n_rows, dtype=np.bool_))]
    for name, dimension in outcomes.dimensions.items():
        for code, value in enumerate(dimension.values):
            found.append(_sized(measure, outcomes, {name: value}, dimension.codes == code))
    found = [one for one in found if one.n or not one.slice]
    return found, [*_too_few(split, found), *_too_wide(split, found, measure.name)]


def _sized(
    measure: Measure,
    outcomes: Outcomes,
    slice_: Mapping[str, SliceValue],
    rows: np.ndarray[tuple[int, ...], np.dtype[np.bool_]],
) -> Sized:
    groups, total = outcomes.groups[rows], np.zeros(int(rows.sum()))
    for name, factor in (measure.rests_on or measure.units).terms.items():
        total = total + factor * outcomes.statistics[name][rows]
    units = _by_group(groups, total)
    if isinstance(measure, Auroc):
        true = _by_group(groups, outcomes.statistics[measure.positive][rows])
        width = expected_intervals.auroc(true, _by_group(groups, np.ones(len(groups))) - true)
    else:
        width = expected_intervals.MODELS[measure.variance](units)
    return Sized(slice_, round(float(total.sum())), int((units > 0).sum()), round(float(units.max(initial=0))), width)


def _by_group(groups: np.ndarray[tuple[int, ...], np.dtype[np.int32]], values: Numbers) -> Numbers:
    return np.bincount(groups, weights=values).astype(np.float64)


def _too_few(split: Split, found: list[Sized]) -> list[Finding]:
    few = [one for one in found if one.groups < _FEW]
    if not few:
        return []
    return [
        Finding(
            Severity.WARNING,
            "few-groups",
            f"{len(few)} of {len(found)} slices have fewer than {_FEW} groups: {_named(few)}",
            "so few independent cases give intervals that mean little, and each case's answer shows in the score",
            "collect more, leave the slice out of boards, or say why it stays",
            split.file,
            numbers={"slices": [one.as_dict() for one in few[:_NAMED]], "least": _FEW},
        )
    ]


def _too_wide(split: Split, found: list[Sized], measure: str) -> list[Finding]:
    wide = [one for one in found if one.groups >= _FEW and (one.width.independent or 0) > _WIDE]
    if not wide:
        return []
    first = wide[0]
    return [
        Finding(
            Severity.NOTE,
            "wide-intervals",
            f"{len(wide)} of {len(found)} slices will have intervals over ±{_WIDE:g}: {_named(wide)}",
            f"n={first.n}: {measure} {first.width.at:g} comes ±{first.width.independent:.2f}; systems closer than "
            "about that are not told apart",
            "collect more, or draw no conclusions from these slices",
            split.file,
            numbers={"slices": [one.as_dict() for one in wide[:_NAMED]], "more_than": _WIDE},
        )
    ]


def _named(found: list[Sized]) -> str:
    names = [", ".join(f"{k}={v}" for k, v in one.slice.items()) or "the whole" for one in found[:_NAMED]]
    return "; ".join(names) + ("; ..." if len(found) > _NAMED else "")
