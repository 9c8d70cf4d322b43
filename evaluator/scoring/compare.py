"""Comparison of two systems on one gold: every measure on every slice, the difference, its interval and p-value.

The interval of the difference is a paired bootstrap (Efron & Tibshirani 1993): both systems are evaluated on the same
resamples of whole groups, from which each system's own interval is also computed. It can be much narrower than the two
systems' own intervals suggest, since a hard group is hard for both.
"""

from collections.abc import Iterator, Sequence

import msgspec
import numpy as np

from evaluator.errors import UsageError
from evaluator.measures.base import Measure
from evaluator.measures.slices import Slice, slices_of
from evaluator.outcomes.pooled import check_alike
from evaluator.outcomes.table import Numbers, Outcomes, SliceValue
from evaluator.outcomes.weighted import Rows, Sample, View
from evaluator.progress import Steps
from evaluator.scoring.score import checked, existing, number_or_none
from evaluator.statistics.bootstrap import BootstrapReplicates, group_weights, slice_batches
from evaluator.statistics.confidence import RESAMPLES
from evaluator.statistics.mcnemar import paired_outcomes
from evaluator.statistics.permutation_test import p_values


class Comparison(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Comparison of two systems, a and b, by one measure on one slice. None: the number does not exist.

    a, b: the value of the measure for each system; difference: a - b; low, high: the ends of the difference's
    confidence interval; p: the two-sided p-value of the permutation test, not adjusted for multiple testing; p_mcnemar:
    the two-sided p-value of McNemar's exact test, for measures of independent units that are either right or wrong; n:
    the number of gold units; n_groups: the number of groups with a row of either system.
    """

    measure: str
    slice: dict[str, SliceValue]
    a: float | None
    b: float | None
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_mcnemar: float | None
    n: int
    n_groups: int


class _Pair:
    """Outcomes of two systems. `samples` returns a sample of each, with the same weights for the same groups."""

    def __init__(self, a: Outcomes, b: Outcomes) -> None:
        self.tables = (a, b)
        self._views = tuple(View.whole(table) for table in self.tables)

    def samples(self, weights: Numbers) -> tuple[Sample, Sample]:
        a, b = self._views
        return Sample(a, weights), Sample(b, weights)


def compare_outcomes(
    a: Outcomes,
    b: Outcomes,
    measures: Sequence[Measure],
    *,
    cross: tuple[str, str] | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> list[Comparison]:
    """Compare two systems by every measure on every slice, in the order of `score_outcomes`: the whole gold first.

    cross: two dimensions whose two-way slices are added; None: no two-way slices. resamples: the number of bootstrap
    resamples and the number of permutations; with 0, low, high and p are None. Exchanging a and b only changes the sign
    of differences. Raises UsageError if the tables belong to different golds or a dimension of `cross` does not exist,
    SandboxError for a value outside its measure's bounds.
    """
    check_alike(a, b)
    pair = _Pair(a, b)
    alone = pair.samples(np.ones((a.n_groups, 1)))
    slices = list(slices_of(alone[0], existing(measures, a.facts), cross))
    steps = Steps(
        sum(3 * slice_.work * resamples for slice_ in slices)
    )  # a permutation costs twice as much as a resample
    options = {"resamples": resamples, "seed": seed}
    return [
        row
        for batch in slice_batches(slices, resamples)
        for row in _compare(pair, alone, batch, **options, steps=steps)
    ]


def _compare(
    pair: _Pair,
    alone: tuple[Sample, Sample],
    slices: Sequence[Slice],
    *,
    resamples: int,
    seed: int,
    steps: Steps,
) -> Iterator[Comparison]:
    values = np.array([_both(alone, slice_, measure) for slice_ in slices for measure in slice_.measures])
    differences = values[:, 0] - values[:, 1]
    low, high, p = np.full((3, len(values)), np.nan)
    if resamples:
        p[:] = p_values(*pair.tables, slices, differences.tolist(), n_permutations=resamples, seed=seed, steps=steps)
        groups = [_groups(alone, slice_) for slice_ in slices]
        low, high = _intervals(pair, slices, groups, differences, resamples=resamples, seed=seed, steps=steps)
    tests = {measure.name: paired_outcomes(measure, *pair.tables) for slice_ in slices for measure in slice_.measures}
    rows = zip(values.tolist(), differences, low, high, p, strict=True)
    for slice_ in slices:
        sample, other = (slice_.sample(whole) for whole in alone)
        n_groups = len(_groups(alone, slice_))
        for measure in slice_.measures:
            (a, b), difference, lower, upper, p_value = next(rows)
            test = tests[measure.name]
            # A single group cannot show how much the difference varies between groups: no interval, and p is 1.
            bounded = n_groups > 1 and not np.isnan(difference)
            yield Comparison(
                measure=measure.name,
                slice=dict(slice_.slice),
                a=number_or_none(a),
                b=number_or_none(b),
                difference=number_or_none(difference),
                low=number_or_none(lower) if bounded else None,
                high=number_or_none(upper) if bounded else None,
                p=1.0 if n_groups < 2 and not np.isnan(p_value) else number_or_none(p_value),
                p_mcnemar=test.p(sample.view.rows) if test is not None else None,
                n=_count(measure, sample, other),
                n_groups=n_groups,
            )


def _groups(alone: tuple[Sample, Sample], slice_: Slice) -> Rows:
    """Return the indices of the groups of which either system has a row in the slice. alone: the systems' samples."""
    return np.union1d(*(slice_.sample(whole).view.groups for whole in alone))


def _both(alone: tuple[Sample, Sample], slice_: Slice, measure: Measure) -> list[float]:
    values = [checked(measure, float(measure.evaluate(slice_.sample(whole))[0])) for whole in alone]
    return [np.nan if value is None else value for value in values]


def _count(measure: Measure, sample: Sample, other: Sample) -> int:
    n, same = (int(measure.count(system_sample)[0]) for system_sample in (sample, other))
    if n != same:
        raise UsageError(f"{measure.name} has {n} units in a and {same} in b, expected outcomes of the same gold")
    return n


def _intervals(
    pair: _Pair,
    slices: Sequence[Slice],
    groups: Sequence[Rows],
    differences: Numbers,
    *,
    resamples: int,
    seed: int,
    steps: Steps,
) -> tuple[Numbers, Numbers]:
    """Return (lower ends, upper ends) of the differences' intervals, for each measure of each slice.

    groups: for each slice, the groups with a row of either system in it. differences: the observed differences, in the
    same order as the results.
    """
    ends = np.cumsum([len(slice_.measures) for slice_ in slices])
    points = np.split(differences, ends[:-1])
    resampled = [
        BootstrapReplicates(observed, len(slice_groups), resamples)
        for observed, slice_groups in zip(points, groups, strict=True)
    ]
    n_groups = pair.tables[0].n_groups
    for weights in group_weights(n_groups, resamples, seed) if n_groups else ():
        samples = pair.samples(weights)
        for slice_, slice_groups, values in zip(slices, groups, resampled, strict=True):
            a, b = (slice_.sample(whole) for whole in samples)
            values.add(
                [measure.evaluate(a) - measure.evaluate(b) for measure in slice_.measures], weights[slice_groups]
            )
            steps.add(slice_.work * weights.shape[1])
    low, high = zip(*(values.intervals() for values in resampled), strict=True)
    return np.concatenate(low), np.concatenate(high)
