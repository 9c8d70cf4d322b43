"""How much shown scores can tell about hidden labels: counted in bits, and what follows from the count.

Whoever chooses each file after the answers before it has, in the end, one file for each sequence of answers that was
possible. These files were fixed before anybody saw an answer. Describe each sequence by a prefix code, so that the sum
of 2^-bits over all sequences is at most 1 (Kraft 1949). By Hoeffding's inequality (1963), a file that was fixed
beforehand is right on n independent labels by more than t above its expectation with a probability of at most
exp(-2 n t^2). Give each file the share 2^-bits of the doubt. Then, with a probability of at least 1 - DOUBT,

    shown - true  <=  sqrt((bits ln 2 + ln(1 / DOUBT)) / (2 n))                                      (`most_gained`)

for the file of the sequence that was really seen, with the bits of that sequence: not of the longest one, nor of the
average. This is the weighted union bound ("Occam's razor", Blumer et al. 1987), in data analysis the "description
length" argument of Dwork et al. (2015, "Generalization in adaptive data analysis and holdout reuse"). Blum and Hardt
(2015) count the sequences of a ladder in the same way.

The same line bounds the *labels known above chance*: let the file be a list of somebody's best guesses, submitted or
not. The share of them that is right exceeds what he could expect without the answers by no more than the bound.
On average over sequences, the gain is at most sqrt(I ln 2 / (2 n)) for an information of I bits, which is at most the
average length of the code: the labels share the information, and Pinsker's inequality bounds what a label's share lets
anybody gain (Russo and Zou 2016; Xu and Raginsky 2017). It is smaller, but says nothing about a single contest.

What is assumed: the code is fixed before the answers; the n labels (or groups of labels, all of one size) are
independent given all that is known beforehand, or drawn without replacement; the score is a mean over them of numbers
between 0 and 1, such as accuracy. "Shown - true" of a ratio such as F1 can be larger if what it counts is rare, and so
can that of a slice; labels are bounded in any case. The bound holds at any one time, not for the largest excess at all
times.

`Account` counts. In a phase that shows all scores each answer costs the same, by the number of values that its numbers
can have. On a ladder numbers cost by their distance from those shown before, so that a contest with few improvements
costs little.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evaluator.disclosure import ladder, rounding
from evaluator.disclosure.ladder import MeasureOf, Scores
from evaluator.disclosure.policy import Policy, n_groups_of
from evaluator.disclosure.rounding import Bounded

DOUBT = 0.01
"""Probability with which more than `most_gained` may be reached by chance."""
USEFUL = 0.25
"""From this gain on a bound is no bound worth the name: half of what is to be known of balanced labels."""
FLOAT_BITS = 64
"""Bits of a number that is shown with all its digits."""
_E_FOLDS = 1455
"""e-folds between the smallest and the largest positive floating-point number."""

Key = tuple[str, Hashable]


def of_levels(n: float) -> float:
    """Return the bits of one answer that can come out in n ways; 0.0 for n of at most 1."""
    return math.log2(n) if n > 1 else 0.0


def of_choice(n: int, k: int) -> float:
    """Return the bits of the choice of k out of n things, such as of the way through a lattice (`of_lattice_path`)."""
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return max(0.0, ways) / math.log(2)


def of_lattice_path(steps: int) -> float:
    """Return the bits of a curve that rises through a lattice with so many steps in each direction."""
    return of_choice(2 * steps, steps)


def n_values(measure: Bounded, size: float) -> int:
    """Return how many values a bounded measure can have that is rounded to multiples of `size` within its bounds."""
    first, last = rounding.above(measure.low, size), rounding.below(measure.high, size)
    n_clipped = (first != measure.low) + (last != measure.high)
    return max(0, round((last - first) / size) + 1) + n_clipped


def n_relative(n_groups: int) -> float:
    """Return how many values a score of an unbounded measure can have that is rounded to its relative step."""
    # `round_down` makes a step at least two fifths of the share that it starts from.
    steps_per_e_fold = 2 * math.sqrt(n_groups) / (rounding.SHARE * 0.4)
    return 2 * _E_FOLDS * steps_per_e_fold + 1


def most_gained(bits: float, n: int) -> float:
    """Return the bound on what is gained by so many bits on n independent labels, as a share of 1; at most 1.0.

    See the module: by how much a shown score may exceed its true value, and the labels known beyond guessing as a share
    of n, with a doubt of DOUBT. 0.0 if nothing was shown; 1.0 without labels.
    """
    if bits <= 0:
        return 0.0
    if n < 1:
        return 1.0
    return min(1.0, math.sqrt((bits * math.log(2) - math.log(DOUBT)) / (2 * n)))


def n_bits(gained: float, n: int) -> float:
    """Return how many bits on n labels keep `most_gained` at `gained`; 0.0 if not even one answer does."""
    return max(0.0, (2 * n * gained**2 + math.log(DOUBT)) / math.log(2))


@dataclass(frozen=True)
class _Range:
    """The bounds of a number that is no measure, such as a difference."""

    low: float
    high: float
    higher_is_better: bool | None = None


class AdaptiveCode:
    """A code of whole numbers from 0: first the number of binary digits, then the digits (Elias 1975).

    The more often numbers of a length have occurred, the fewer bits that length costs. Before the first number, the
    length l has the probability 1 / ((l + 1) (l + 2)), as if one number had occurred.
    """

    def __init__(self) -> None:
        self._lengths: Counter[int] = Counter()

    def cost(self, number: int) -> float:
        """Return the bits of the next number, which is at least 0, if it is this one."""
        length = number.bit_length()
        before = 1 / ((length + 1) * (length + 2))
        probability = (self._lengths[length] + before) / (self._lengths.total() + 1)
        return max(0, length - 1) - math.log2(probability)

    def add(self, number: int) -> float:
        """Return the bits of the next number, and learn from it."""
        bits = self.cost(number)
        self._lengths[number.bit_length()] += 1
        return bits


class Account:
    """The account of what the answers of a phase showed, in bits. Add them in the order in which they were shown.

    bits: the sum. by_kind: the same by kind of number: `which` answers show scores, `overall`, `slices` and `two-way`
    slices with their intervals, and `units`, the numbers of units.
    """

    def __init__(self, policy: Policy, *, primary: str, measure_of: MeasureOf, groups: Iterable[Mapping[str, Any]]):
        """Begin an account.

        primary: name of the primary measure. measure_of: function from a measure's name to the measure. groups: one row
        for each measure and slice that the gold has, with the keys measure, slice, n and n_groups: the scores of any
        file, of which only these keys are read.
        """
        self._policy, self._primary, self._measure_of = policy, primary, measure_of
        self._groups = {_key(row): self._as_shown(row) for row in groups}
        self._codes: dict[str, AdaptiveCode] = {}
        self._best: dict[Hashable, int] = {}
        self._shown: dict[Key, int] = {}
        self._units: dict[Key, int] | None = None
        self.by_kind: defaultdict[str, float] = defaultdict(float)

    @property
    def bits(self) -> float:
        return sum(self.by_kind.values())

    def add(self, shown: Scores, *, detailed: bool = True, competes: bool = True, on: Hashable = None) -> float:
        """Count one answer, and return its bits.

        shown: its scores as `policy.reveal` returns them; []: the answer showed none. detailed: whether it is one of
        its team's detailed answers. competes: False for baselines, which are shown in any case. on: the ladder that it
        is on, such as its team if each team has its own. Raises KeyError for a score that `groups` does not have.
        """
        before = self.bits
        compared = competes and self._policy.compares_steps(detailed)
        if compared:
            self._count("which", self._code("which").add(1 if shown else 0))
        if not shown and (compared or not self._expected(detailed)):
            return self.bits - before
        rows = {_key(score): score for score in shown}
        if unknown := rows.keys() - self._groups.keys():
            raise KeyError(f"scores on {sorted(map(str, unknown))}, expected those on the gold's measures and slices")
        if self._policy.compares_steps(detailed):
            self._add_steps(rows, detailed, on, competes)
        else:
            for kind, bits in self.of_answer(detailed).items():
                self._count(kind, bits)
        self._count("units", self._of_units({key: score["n"] for key, score in rows.items()}))
        return self.bits - before

    def of_answer(self, detailed: bool) -> dict[str, float]:
        """Return what an answer costs by kind, without numbers of units, where answers are not compared."""
        total: defaultdict[str, float] = defaultdict(float)
        for key, row in self._expected(detailed).items():
            total[_kind(key)] += of_levels(self._n_scores(row, with_interval=detailed))
        return dict(total)

    def of_difference(self, row: Mapping[str, Any], *, n_permutations: int) -> float:
        """Return what the comparison of two systems costs: their difference, its interval, and all that follows from p.

        row: as in `groups`; the measure and slice by which the systems are compared. n_permutations: the most behind p.
        Corrected p-values, significance and rank ranges follow from all p, so that they cost nothing more, however
        often they are corrected anew.
        """
        # p is r / n, where the permutations end early with a fixed r, or (r + 1) / (n + 1), or there is none.
        of_p = of_levels(2 * n_permutations + 2)
        measure, n_groups = self._measure_of(row["measure"]), n_groups_of(self._as_shown(row))
        width = measure.high - measure.low
        size = rounding.step(_Range(-width, width), n_groups)
        if self._policy.exact:
            return 3.0 * FLOAT_BITS + of_p
        if size is None:
            return of_levels(n_relative(n_groups)) + 2.0 * FLOAT_BITS + of_p
        n = n_values(_Range(-width, width), size) + 2
        return of_levels(1 + n + n * n * (n + 1) / 2) + of_p

    def of_head_to_head(self, *, n_permutations: int, with_counts: bool) -> float:
        """Return what a comparison of two systems on all measures and slices costs.

        with_counts: whether it shows which share of the units both, only one, or none of them has right.
        """
        total = 0.0
        for row in self._expected(detailed=True).values():
            total += self.of_difference(row, n_permutations=n_permutations)
            if with_counts:
                size = rounding.step(_Range(0, 1), n_groups_of(row)) or 1.0
                total += 4 * of_levels(row["n"] + 1 if self._policy.exact else n_values(_Range(0, 1), size))
        return total

    def of_units(self, n_answers: int) -> float:
        """Return what the numbers of units cost in so many answers if they are the same in all of them.

        They are, unless a custom scorer lets them depend on the predictions.
        """
        if not n_answers:
            return 0.0
        n_later = n_answers - 1
        first = self._of_first_units({key: row["n"] for key, row in self._expected(detailed=True).items()})
        # The cost of n_later zeros in an `AdaptiveCode`.
        share = math.lgamma(n_later + 0.5) - math.lgamma(0.5) - math.lgamma(n_later + 1)
        return first - share / math.log(2)

    def _as_shown(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row of `groups` whose numbers are rounded as they are shown, on slices."""
        numbers = {name: row.get(name) for name in ("n", "n_groups")}
        if row["slice"] and not self._policy.exact:
            numbers = {name: n and rounding.count(n) for name, n in numbers.items()}
        return {"measure": row["measure"], "slice": row["slice"], **numbers}

    def _expected(self, detailed: bool) -> dict[Key, Mapping[str, Any]]:
        shows = self._policy.shows
        return {key: row for key, row in self._groups.items() if shows(row, primary=self._primary, detailed=detailed)}

    def _n_scores(self, row: Mapping[str, Any], *, with_interval: bool) -> float:
        """Return in how many ways one score can come out: value and interval, value alone, or no value."""
        measure, n_groups = self._measure_of(row["measure"]), n_groups_of(row)
        size = rounding.step(measure, n_groups)
        if self._policy.exact:
            n = n_ends = 2.0**FLOAT_BITS
        elif size is None:
            n, n_ends = n_relative(n_groups), 2.0**FLOAT_BITS
        else:
            n = n_ends = float(n_values(measure, size))
        # The ends of an interval are in order; the value need not lie between them.
        return 1 + n + (n * n_ends * (n_ends + 1) / 2 if with_interval or self._policy.exact else 0)

    def _add_steps(self, rows: Mapping[Key, Mapping[str, Any]], detailed: bool, on: Hashable, competes: bool) -> None:
        for key, row in self._expected(detailed).items():
            measure, n_groups = self._measure_of(row["measure"]), row.get("n_groups")
            size = ladder.step(measure, n_groups)
            if size is None:
                continue
            value = rows[key]["value"] if key in rows else None
            steps = None if value is None else ladder.n_steps(value, measure=measure, n_groups=n_groups)
            at = 0 if steps is None else 1 + steps
            is_primary = key == (self._primary, _slice_key({}))
            last = self._best.get(on) if is_primary and competes else self._shown.get(key)
            if last is None:
                bits = of_levels(2 + math.floor((measure.high - measure.low) / size + ladder.SLACK))
            elif is_primary and competes:
                bits = self._code("gained").add(_folded(at - last - 1))
            else:
                bits = self._code(_kind(key)).add(_folded(at - last))
            self._count(_kind(key), bits)
            self._shown[key] = at
            if is_primary and competes:
                self._best[on] = at

    def _of_units(self, units: dict[Key, int]) -> float:
        """Return the bits of an answer's numbers of units, which cost little if they are as before."""
        if self._units is None:
            self._units = units
            return self._of_first_units(units)
        as_before = units.items() <= self._units.items()
        bits = self._code("units").add(0 if as_before else 1)
        if not as_before:
            bits += self._of_first_units(units)
            self._units = {**self._units, **units}
        return bits

    def _of_first_units(self, units: Mapping[Key, int]) -> float:
        """Return the bits of numbers of units, and of groups, from which the steps of slices follow.

        A number is mostly that of the measure before it, which costs little. The numbers of all units and groups are
        known to everybody.
        """
        whole = _slice_key({})
        last_of = {whole: max((row["n"] for key, row in self._groups.items() if key[1] == whole), default=0)}
        bits = 0.0
        is_another, number = AdaptiveCode(), AdaptiveCode()
        for key, n_units in units.items():
            on_slice = key[1]
            n_groups = self._groups[key]["n_groups"] or n_units
            for n in (n_units,) if on_slice == whole else (n_units, n_groups):
                if on_slice in last_of:
                    bits += is_another.add(0 if n == last_of[on_slice] else 1)
                if n != last_of.get(on_slice):
                    bits += number.add(n if on_slice == whole or self._policy.exact else _rank_of_count(n))
                last_of[on_slice] = n
        return bits

    def _code(self, kind: str) -> AdaptiveCode:
        return self._codes.setdefault(kind, AdaptiveCode())

    def _count(self, kind: str, bits: float) -> None:
        self.by_kind[kind] += bits


def _slice_key(slice_: Mapping[str, Any]) -> Hashable:
    return tuple(sorted((name, str(value)) for name, value in slice_.items()))


def _key(score: Mapping[str, Any]) -> Key:
    return score["measure"], _slice_key(score["slice"])


def _kind(key: Key) -> str:
    slice_ = key[1]
    return ("overall", "slices", "two-way")[min(2, len(slice_))]  # type: ignore[arg-type]


def _folded(distance: int) -> int:
    """Map the whole numbers 0, -1, 1, -2, 2... to 0, 1, 2, 3, 4..."""
    return 2 * distance if distance >= 0 else -2 * distance - 1


def _rank_of_count(count: int) -> int:
    """Return how many smaller numbers `rounding.count` can return. count: one that it returned."""
    rank, start, size = 0, 0, 1
    for next_size in (mantissa * 10**exponent for exponent in itertools.count() for mantissa in (2, 5, 10)):
        end = next_size**2  # from here on, numbers are rounded to the next step
        if count < end:
            break
        rank, start, size = rank - (start - end) // size, end, next_size  # rounded up
    return rank + (count - start) // size
