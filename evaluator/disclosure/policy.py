"""Disclosure policies: which scores of an answer are shown, and how coarsely. docs/adr/0095 has the reasons.

- `full`: every score at once.
- `ladder`: nothing, until the overall primary measure beats the best shown value by a step; then every measure and
  slice on the ladder's coarse grid, without intervals (`ladder`).
- `sealed`: nothing until the phase is opened; then the finals as in `full`.

While gold is hidden, scores are rounded to the noise (`rounding`), slices of few groups are left out, and after a
team's first `detailed_answers` answers only the overall primary score is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from evaluator.disclosure import ladder, rounding
from evaluator.disclosure.ladder import MeasureOf, Scores
from evaluator.disclosure.rounding import Bounded


class Kind(StrEnum):
    """Kinds of policies, by the names that phases store. A sealed phase is like FULL once it is opened."""

    FULL = "full"
    LADDER = "ladder"
    SEALED = "sealed"


class Afterwards(StrEnum):
    """What is shown of a team's answers after its first detailed ones: the overall primary score, or improvements of it
    by a ladder's step. A ladder shows improvements in both cases.
    """

    OVERALL = "overall"
    IMPROVEMENTS = "improvements"


@dataclass(frozen=True)
class Policy:
    """A phase's disclosure policy while its gold is hidden.

    exact: scores have all digits (a ladder's are on its grid all the same), and numbers of units are exact.
    least_groups: the smallest number of groups of a slice that is shown. detailed_answers: how many answers of each
    team are shown with slices, other measures and intervals; None: all.
    """

    kind: Kind
    exact: bool = False
    least_groups: int = 1
    detailed_answers: int | None = None
    afterwards: Afterwards = Afterwards.OVERALL

    def is_detailed(self, n_earlier: int) -> bool:
        """Return whether an answer is shown in detail. n_earlier: the number of earlier answers of its team."""
        return self.detailed_answers is None or n_earlier < self.detailed_answers

    def shows(self, score: Mapping[str, Any], *, primary: str, detailed: bool) -> bool:
        """Return whether a score is among those that an answer shows, if it shows any. score: as in `Scores`."""
        if not detailed:
            return not score["slice"] and score["measure"] == primary
        return not score["slice"] or n_groups_of(score) >= self.least_groups

    def compares_steps(self, detailed: bool) -> bool:
        """Return whether an answer is shown only if it beats the best shown one by a step."""
        return self.kind == Kind.LADDER or (not detailed and self.afterwards == Afterwards.IMPROVEMENTS)


def reveal(
    policy: Policy,
    scores: Scores,
    *,
    primary: str,
    measure_of: MeasureOf,
    best: float | None = None,
    n_earlier: int = 0,
    competes: bool = True,
) -> Scores:
    """Return the scores of one answer as they are shown; [] if none are. Never call it for a phase that is sealed.

    primary: name of the primary measure. best: the best shown primary value that this one must beat, where answers are
    compared; None: nothing was shown. n_earlier: the number of the team's earlier answers; on a ladder, of earlier
    answers on it that showed scores. competes: False for systems
    such as baselines, all of whose answers are shown in detail.
    """
    detailed = not competes or policy.is_detailed(n_earlier)
    chosen = [score for score in scores if policy.shows(score, primary=primary, detailed=detailed)]
    if not policy.exact:
        chosen = [{**score, "n_groups": shown_groups(score)} for score in chosen]
    if policy.compares_steps(detailed):
        shown = ladder.reveal(chosen, primary=primary, measure_of=measure_of, best=best, competes=competes)
        return shown if policy.exact else [_with_rounded_count(score) for score in shown]
    if policy.exact:
        return [{name: score[name] for name in ladder.PUBLISHED} for score in chosen]
    return [rounded(score, measure_of(score["measure"]), with_interval=detailed) for score in chosen]


def rounded(score: Mapping[str, Any], measure: Bounded, *, with_interval: bool = True) -> dict[str, Any]:
    """Return a score as it is shown: rounded to its step, the ends of its interval outwards.

    score: as in `Scores`. with_interval: False leaves the interval out. The interval stays within the measure's bounds.
    """
    value, low, high = score["value"], score["low"], score["high"]
    shown = _with_rounded_count({name: score[name] for name in ladder.PUBLISHED} | {"low": None, "high": None})
    if value is None:
        return shown
    size = step_of(score, measure)
    shown["value"] = min(max(rounding.nearest(value, size), measure.low), measure.high)
    if with_interval and low is not None and high is not None:
        shown["low"] = max(rounding.below(low, size), measure.low)
        shown["high"] = min(rounding.above(high, size), measure.high)
    return shown


def _with_rounded_count(score: dict[str, Any]) -> dict[str, Any]:
    return {**score, "n": rounding.count(score["n"])} if score["slice"] else score


def rounded_difference(
    numbers: Mapping[str, Any], measure: Bounded, *, n_groups: int, values: Iterable[float | None]
) -> dict[str, Any]:
    """Return a difference of two systems' values of a measure as it is shown, with its interval rounded outwards.

    numbers: the keys difference, low and high, each a number or None; others are kept. values: the two systems' values,
    on which the step depends if the measure is unbounded. The result has also the key `decimals`: with how many the
    numbers are written.
    """
    width = measure.high - measure.low
    size = rounding.step(_Difference(-width, width), n_groups) or rounding.relative_step(
        max((abs(value) for value in values if value is not None), default=0.0), n_groups
    )
    ends = (("difference", rounding.nearest), ("low", rounding.below), ("high", rounding.above))
    shown = {name: None if numbers[name] is None else nearby(numbers[name], size) for name, nearby in ends}
    return {**numbers, **shown, "decimals": rounding.decimals(size)}


@dataclass(frozen=True)
class _Difference:
    """The bounds of differences of two values of a measure."""

    low: float
    high: float
    higher_is_better: bool | None = None


def rounded_count(count: int, *, n: int, n_groups: int, is_slice: bool = False) -> int:
    """Return how many of n units it is about, of some kind: their share is rounded as a score in n_groups groups is.

    is_slice: n is itself not shown exactly; then it is the rounded share of the rounded n.
    """
    size = rounding.step(_Difference(0.0, 1.0), n_groups) or 1.0
    return round(rounding.nearest(count / n, size) * (rounding.count(n) if is_slice else n)) if n else 0


def step_of(score: Mapping[str, Any], measure: Bounded) -> float:
    """Return the step to which a score is rounded. score: as in `Scores`, with a value."""
    n_groups = n_groups_of(score)
    return rounding.step(measure, n_groups) or rounding.relative_step(score["value"], n_groups)


def shown_groups(score: Mapping[str, Any]) -> int | None:
    """Return the number of groups behind a score, from which anybody may compute the step of a ladder.

    On slices it is rounded, as the number of units is. None: unknown.
    """
    n_groups: int | None = score.get("n_groups")
    return rounding.count(n_groups) if n_groups and score["slice"] else n_groups


def n_groups_of(score: Mapping[str, Any]) -> int:
    """Return the number of groups behind a score, at least 1. A custom scorer does not tell it: then that of units."""
    return max(1, score.get("n_groups") or score["n"] or 1)
