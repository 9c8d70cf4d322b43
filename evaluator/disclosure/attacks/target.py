"""A hidden test set behind a disclosure policy, as an attack sees it: files go in, and what the policy shows comes out.

The hidden labels are binary and balanced. A file says one number of each label, and what it means depends on the task,
which a `Style` describes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.disclosure import policy as policies
from evaluator.disclosure.bits import Account, most_gained
from evaluator.disclosure.ladder import Scores
from evaluator.disclosure.policy import Kind, Policy
from evaluator.measures.base import Measure, Ratio, statistic
from evaluator.outcomes.table import Codes, Dimension, Numbers, Outcomes, SliceValue
from evaluator.scoring.score import score_outcomes
from evaluator.statistics.confidence import RESAMPLES

Guess = Numbers
"""What a file says of each label; NaN: nothing."""
Labels = npt.NDArray[np.int8]
Items = npt.NDArray[np.int64]
Key = tuple[tuple[str, SliceValue], ...]
"""A slice as sorted pairs of dimension and value; () is the whole gold."""
Answer = Mapping[tuple[str, Key], Mapping[str, Any]]
"""What is shown of a file: (measure, slice) -> score, with the keys value, low, high and n. Empty: nothing is shown."""
Ask = Callable[[Guess], Answer]


@dataclass(frozen=True)
class Style:
    """What files say in a task, and how they are scored: all of it is public.

    columns: (guess, labels) -> the statistics of outcomes, one row a label. expected: guess -> the value of the primary
    measure that is expected on new labels. file: labels -> the guess that says them. code: (random, b) -> a guess of b
    labels that is scored differently for as many labellings as possible. rest: what a file says of labels that it does
    not ask about. needs_balance: what is shown depends on how many of these labels are 1.
    """

    measures: tuple[Measure, ...]
    primary: str
    columns: Callable[[Guess, Numbers], Mapping[str, Numbers]]
    expected: Callable[[Guess], float]
    file: Callable[[Numbers], Guess]
    code: Callable[[np.random.Generator, int], Guess]
    rest: float = math.nan
    needs_balance: bool = False

    def measure(self, name: str) -> Measure:
        return {measure.name: measure for measure in self.measures}[name]


def _correct(guess: Guess, labels: Numbers) -> Mapping[str, Numbers]:
    return {"claim": np.ones(len(guess)), "correct": (guess == labels).astype(np.float64)}


_CLAIM = statistic("claim")
ACCURACY = Ratio(
    name="accuracy",
    title="Accuracy",
    units=_CLAIM,
    numerator=statistic("correct"),
    denominator=_CLAIM,
    doc="Share of labels that are said correctly.",
    source="",
)
LABELLING = Style(
    measures=(ACCURACY,),
    primary="accuracy",
    columns=_correct,
    expected=lambda guess: float(np.mean(~np.isnan(guess))) / 2,
    file=lambda labels: labels,
    code=lambda random, b: random.integers(0, 2, b).astype(np.float64),
)
"""Files that say a label, or nothing, of each item, scored by accuracy."""


def ranking(
    measures: tuple[Measure, ...], primary: str, columns: Callable[[Guess, Numbers], Mapping[str, Numbers]]
) -> Style:
    """Return the style of files that give each item a score, where those with the label 1 should score higher."""
    at_random = {"average_precision": 0.5, "auroc": 0.5}.get(primary, 0.0)
    return Style(
        measures=measures,
        primary=primary,
        columns=columns,
        expected=lambda _: at_random,
        file=lambda labels: labels,
        code=lambda random, b: random.permutation(np.arange(1.0, b + 1)),
        rest=0.0,
        needs_balance=True,
    )


def retrieval(
    measures: tuple[Measure, ...], primary: str, columns: Callable[[Guess, Numbers], Mapping[str, Numbers]]
) -> Style:
    """Return the style of files that give the rank of one candidate for each item, with the label 1 if it is right."""
    return Style(
        measures=measures,
        primary=primary,
        columns=columns,
        expected=lambda guess: float(np.mean(np.nan_to_num(1 / guess))) / 2,
        file=lambda labels: np.where(labels == 1, 1.0, np.nan),
        code=lambda random, b: random.permutation(np.array(_PRIMES[:b], dtype=np.float64)),
    )


_PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)
"""Ranks whose reciprocals have different sums for different sets of ranks."""


@dataclass(frozen=True)
class Known:
    """What an attack knows of the gold, and of what it is shown.

    n: the number of labels. groups: the group of each label. slices: slice -> its labels, ascending, of slices that the
    policy shows. positives: slice -> number of labels 1 in it. detailed: the number of answers, of all teams together,
    that are shown in detail; None: all, or those that a ladder shows. seed: that of the resamples, if it is known and
    the order of groups too; None: one is secret. resamples: their number.
    """

    n: int
    groups: Codes
    slices: Mapping[Key, Items]
    policy: Policy
    style: Style
    positives: Mapping[Key, int]
    detailed: int | None = None
    seed: int | None = None
    resamples: int = RESAMPLES

    @property
    def n_groups(self) -> int:
        return int(self.groups.max()) + 1 if self.n else 0

    def n_groups_of(self, key: Key) -> int:
        """Return the number of groups of a slice; () for the whole."""
        return len(np.unique(self.groups[self.slices[key]])) if key else self.n_groups

    @cached_property
    def parts(self) -> Mapping[Key, Items]:
        """The most slices that share no labels: those of one dimension, or of a pair of dimensions. May be empty."""
        by_names: dict[tuple[str, ...], dict[Key, Items]] = {}
        for key, items in self.slices.items():
            by_names.setdefault(tuple(name for name, _ in key), {})[key] = items
        return max(by_names.values(), key=len, default={})


@dataclass
class Target:
    """A hidden test set behind a policy. Calling it sends a file, of each team in turn, and returns what is shown.

    labels: 0 or 1. groups: the group of each label. dimensions: they cut the labels into slices. cross: the dimensions
    of two-way slices. resamples: of intervals; 0: none. seed: of the resamples. knows_seed: attacks know it, and the
    order of the groups. baseline_value: the primary value of a baseline, which files on a ladder must beat.

    best: the best value of the primary measure that was shown; excess: by how much it exceeds the value that its file
    is expected to have on new labels. shown: what was shown of each file, and whether in detail.
    """

    labels: Labels
    groups: Codes
    dimensions: Mapping[str, Dimension]
    policy: Policy
    style: Style = LABELLING
    cross: tuple[str, str] | None = None
    teams: int = 1
    resamples: int = 0
    seed: int = 0
    knows_seed: bool = False
    baseline_value: float | None = None
    best: float | None = None
    excess: float = 0.0
    n_calls: int = 0
    shown: list[tuple[Scores, bool]] = field(default_factory=list)
    n_shown: int = 0

    @cached_property
    def known(self) -> Known:
        """What attacks know of this test set."""
        detailed = self.policy.detailed_answers
        is_shown = {
            key: items
            for key, (items, n_groups) in self._slices.items()
            if n_groups >= self.policy.least_groups and detailed != 0
        }
        return Known(
            n=len(self.labels),
            groups=self.groups,
            slices=is_shown,
            policy=self.policy,
            style=self.style,
            positives={
                (): int(self.labels.sum()),
                **{key: int(self.labels[items].sum()) for key, items in is_shown.items()},
            },
            detailed=None if detailed is None or self.policy.kind == Kind.LADDER else detailed * self.teams,
            seed=self.seed if self.knows_seed and self.resamples else None,
            resamples=self.resamples,
        )

    @cached_property
    def n_groups(self) -> int:
        return int(self.groups.max()) + 1

    @cached_property
    def _slices(self) -> Mapping[Key, tuple[Items, int]]:
        """Slice -> (its labels, its number of groups)."""
        found: dict[Key, Items] = {}
        for name, dimension in self.dimensions.items():
            for code, value in enumerate(dimension.values):
                found[((name, value),)] = np.flatnonzero(dimension.codes == code)
        if self.cross:
            a, b = (self.dimensions[name] for name in self.cross)
            for i, outer in enumerate(a.values):
                for j, inner in enumerate(b.values):
                    key = tuple(sorted([(self.cross[0], outer), (self.cross[1], inner)]))
                    found[key] = np.flatnonzero((a.codes == i) & (b.codes == j))
        return {key: (items, len(np.unique(self.groups[items]))) for key, items in found.items() if len(items)}

    def scores(self, guess: Guess, *, detailed: bool = True) -> Scores:
        """Return a file's exact scores, with numbers of groups. detailed: False leaves out slices and intervals."""
        if self.style is LABELLING and not self.resamples:
            return self._counted(guess, detailed=detailed)
        return self.scored(guess, detailed=detailed)

    def _counted(self, guess: Guess, *, detailed: bool) -> Scores:
        """Return the same as `scored`, for accuracy without intervals, in a fraction of the time."""
        correct = guess == self.labels
        counts: list[tuple[Key, int, int, int]] = [((), len(correct), int(correct.sum()), self.n_groups)]
        for key, (items, n_groups) in self._slices.items() if detailed else ():
            counts.append((key, len(items), int(correct[items].sum()), n_groups))
        return [
            {
                **{"measure": self.style.primary, "slice": dict(key), "value": n_correct / n},
                **{"low": None, "high": None, "n": n, "n_groups": n_groups},
            }
            for key, n, n_correct, n_groups in counts
        ]

    def scored(self, guess: Guess, *, detailed: bool = True) -> Scores:
        """Return the same as `scores`, computed by the scorer."""
        outcomes = Outcomes(
            task="",
            task_version=0,
            n_units=len(self.labels),
            group_names=tuple(range(self.n_groups)),
            groups=self.groups,
            statistics=dict(self.style.columns(guess, self.labels.astype(np.float64))),
            dimensions=self.dimensions if detailed else {},
        )
        scores = score_outcomes(
            outcomes,
            self.style.measures,
            cross=self.cross if detailed else None,
            resamples=self.resamples if detailed else 0,
            seed=self.seed,
        )
        return [{**score.as_dict(), "n_groups": score.n_groups} for score in scores]

    def __call__(self, guess: Guess) -> Answer:
        # On a ladder, the answers of all teams that showed scores; else those of this team.
        n_earlier = self.n_shown if self.policy.kind == Kind.LADDER else self.n_calls // self.teams
        detailed = self.policy.is_detailed(n_earlier)
        shown = policies.reveal(
            self.policy,
            self.scores(guess, detailed=detailed),
            primary=self.style.primary,
            measure_of=self.style.measure,
            best=max((value for value in (self.best, self.baseline_value) if value is not None), default=None),
            n_earlier=n_earlier,
        )
        self.n_calls += 1
        self.n_shown += bool(shown)
        self.shown.append((shown, detailed))
        answer = {(row["measure"], tuple(sorted(row["slice"].items()))): row for row in shown}
        overall = answer.get((self.style.primary, ()))
        if overall is not None and overall["value"] is not None:
            value = float(overall["value"])
            if self.best is None or value > self.best:
                self.best, self.excess = value, value - self.style.expected(guess)
        return answer

    def bits(self) -> float:
        """Return how many bits the answers so far have shown."""
        rows = self.scores(np.full(len(self.labels), self.style.rest))
        account = Account(self.policy, primary=self.style.primary, measure_of=self.style.measure, groups=rows)
        for shown, detailed in self.shown:
            account.add(shown, detailed=detailed)
        return account.bits

    def bound(self) -> float:
        """Return the bound on what the answers so far let anybody gain: see `bits.most_gained`."""
        return most_gained(self.bits(), self.n_groups)


def balanced(n: int, random: np.random.Generator) -> Labels:
    """Return n random labels, half of which are 1."""
    return (random.permutation(n) % 2).astype(np.int8)
