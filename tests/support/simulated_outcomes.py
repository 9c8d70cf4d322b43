"""Outcomes of simulated systems with known true values: groups of unequal sizes whose rows are not independent.

A group is hard or easy: the common part of its rows is sampled once, from a distribution around the true rate. It does
not depend on the group's size, so the true values do not depend on sizes either, although large groups weigh more.
"""

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from evaluator.measures.auroc import Auroc
from evaluator.measures.base import Ratio, statistic
from evaluator.measures.correlation import Spearman
from evaluator.outcomes.table import Outcomes
from evaluator.scoring.compare import compare_outcomes
from evaluator.scoring.score import score_outcomes
from evaluator.tasks.fact_verification.measures import ACCURACY
from evaluator.tasks.link_prediction.measures import MRR

SHARED = 0.3  # default share of a row's variance that the rows of its group have in common
SIZES = {
    "one": lambda n, random: np.ones(n, dtype=np.int64),
    "geometric": lambda n, random: random.geometric(1 / 3, n),  # mean 3; effective groups (Kish): 60 % of their number
    "lognormal": lambda n, random: np.ceil(random.lognormal(0.7, 1.0, n)).astype(np.int64),  # mean 3.8; 45 %
    "zipf": lambda n, random: np.minimum(random.zipf(2.0, n), 50),  # mean 2.8; 20 to 25 %, from 60 % one-row groups
}
unit = statistic("claim")
F1 = Ratio(
    name="f1",
    title="",
    doc="",
    source="",
    units=unit,
    empty=0.0,
    numerator=2.0 * statistic("tp"),
    denominator=2.0 * statistic("tp") + statistic("fp") + statistic("fn"),
)
AUROC = Auroc(name="auroc", title="", doc="", source="", units=unit, score="score", positive="positive")
SPEARMAN = Spearman(name="spearman", title="", doc="", source="", units=unit, x="x", y="y", low=-1.0)
SUMS = (F1, ACCURACY, MRR)
ORDERS = (AUROC, SPEARMAN)
OTHER_RANKS = np.append(1 / np.arange(2, 11), 0.0)  # ranks other than the first: 2 to 10, or not found


def group_codes(n_groups, random, sizes="geometric"):
    return np.repeat(np.arange(n_groups, dtype=np.int32), SIZES[sizes](n_groups, random))


def simulate(n_groups, rate, random, shared=SHARED, sizes="geometric"):
    """Return outcomes for which every measure's true value is `truth(measure, rate)`."""
    codes = group_codes(n_groups, random, sizes)
    columns = sums(codes, n_groups, rate, random, shared) | orders(codes, n_groups, rate, random, shared)
    return table(codes, n_groups, columns)


def sums(codes, n_groups, rate, random, shared=SHARED):
    """Return statistics of measures that are ratios of sums."""
    return answered(codes, difficulty(n_groups, rate, random, shared), random)


def difficulty(n_groups, rate, random, shared):
    """Return for each group the probability that a row is answered correctly."""
    strength = (1 - shared) / shared  # of the Beta distribution with that intraclass correlation
    return random.beta(rate * strength, (1 - rate) * strength, n_groups)


def answered(codes, chances, random):
    right = random.random(len(codes)) < chances[codes]
    missed = random.choice(OTHER_RANKS, len(codes))
    return {
        "correct": right,
        "tp": right,
        "fn": ~right,
        "fp": random.random(len(codes)) >= chances[codes],
        "reciprocal_rank": np.where(right, 1.0, missed),
    }


def simulate_pair(n_groups, rate, random, gain=0.0, *, single=False, shared=SHARED):
    """Return the outcomes of two systems on one gold.

    Half of the groups are equally hard for both; on the others their difficulty is independent. gain: share of the
    second system's errors that are corrected. single: groups of one row.
    """
    codes = group_codes(n_groups, random, "one" if single else "geometric")
    common = random.random(n_groups) < 0.5
    a, b = (difficulty(n_groups, rate, random, shared) for _ in range(2))
    b = np.where(common, a, b)
    return (
        table(codes, n_groups, answered(codes, a, random)),
        table(codes, n_groups, answered(codes, b + gain * (1 - b), random)),
    )


def simulate_scores(n_groups, rate, random):
    """Return two systems that separate classes, and correlate with a rating, equally well."""
    codes = group_codes(n_groups, random)
    a, b = (orders(codes, n_groups, rate, random) for _ in range(2))
    b |= {"score": b["score"] + (a["positive"] * 1.0 - b["positive"]) * (2**0.5) * NormalDist().inv_cdf(rate)}
    correlation = 2 * np.sin(np.pi * rate / 6)
    b["y"] += correlation * (a["x"] - b["x"])
    return table(codes, n_groups, a), table(codes, n_groups, b | {"positive": a["positive"], "x": a["x"]})


def orders(codes, n_groups, rate, random, shared=SHARED):
    """Return statistics of measures that depend on order; they are normal, so the true values have a formula."""

    def clustered(n=1):
        groups = random.normal(size=(n, n_groups))[:, codes]
        return np.sqrt(shared) * groups + np.sqrt(1 - shared) * random.normal(size=(n, len(codes)))

    positive = random.random(len(codes)) < 0.5
    shift = np.sqrt(2) * NormalDist().inv_cdf(rate)
    x, rest = clustered(2)
    correlation = 2 * np.sin(np.pi * rate / 6)
    return {
        "positive": positive,
        "score": clustered()[0] + shift * positive,
        "x": x,
        "y": correlation * x + np.sqrt(1 - correlation**2) * rest,
    }


def table(codes, n_groups, columns):
    ones = np.ones(len(codes))
    statistics = {name: np.asarray(column, dtype=np.float64) for name, column in columns.items()}
    statistics |= {"claim": ones, "question": ones}
    return Outcomes("simulated", 1, len(codes), tuple(range(n_groups)), codes, statistics, {})


def truth(measure, rate):
    return rate + (1 - rate) * OTHER_RANKS.mean() if measure is MRR else rate


def by_rows(outcomes):
    """Return the same table with every row as a separate group."""
    n = outcomes.n_rows
    return Outcomes(
        outcomes.task, 1, n, tuple(range(n)), np.arange(n, dtype=np.int32), outcomes.statistics, outcomes.dimensions
    )


@dataclass(frozen=True)
class Covered:
    """Shares of trials in which the interval contained the true value, was below it, was above it; mean width."""

    held: float
    below: float
    above: float
    width: float

    def __str__(self):
        return f"{self.held:.1%} (too low {self.below:.1%}, too high {self.above:.1%}, width {self.width:.3f})"


def coverage(
    measures, *, n_groups, rate, trials, resamples, shared=SHARED, sizes="geometric", view=lambda outcomes: outcomes
):
    """Return one Covered per measure. view: function that changes the outcomes before they are scored."""
    ends = {measure.name: [] for measure in measures}
    for trial in range(trials):
        random = np.random.default_rng([n_groups, round(100 * rate), trial])
        outcomes = view(simulate(n_groups, rate, random, shared, sizes))
        for score in score_outcomes(outcomes, measures, resamples=resamples, seed=trial):
            ends[score.measure].append((score.low, score.high))
    return {measure.name: _covered(np.array(ends[measure.name]), truth(measure, rate)) for measure in measures}


def _covered(ends, true):
    low, high = ends.T
    below, above = np.mean(high < true), np.mean(low > true)
    return Covered(1 - below - above, below, above, np.mean(high - low))


def rejections(measures, pair, *, trials, resamples, alpha=0.05):
    """Return the share of trials with a significant difference, by the permutation test and by McNemar's test.

    McNemar's count is 0 for measures without that test. pair: random generator -> two tables.
    """
    counts_by_test = {kind: dict.fromkeys((measure.name for measure in measures), 0) for kind in ("p", "p_mcnemar")}
    for trial in range(trials):
        a, b = pair(np.random.default_rng([7, trial]))
        for row in compare_outcomes(a, b, measures, resamples=resamples, seed=trial):
            counts_by_test["p"][row.measure] += int(row.p <= alpha)
            counts_by_test["p_mcnemar"][row.measure] += int(row.p_mcnemar is not None and row.p_mcnemar <= alpha)
    return {kind: {name: count / trials for name, count in counts.items()} for kind, counts in counts_by_test.items()}
