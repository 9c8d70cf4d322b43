"""The account in bits: its code is a prefix code, and what it bounds is not exceeded more often than it says."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.disclosure import bits, ladder, rounding
from evaluator.disclosure.bits import Account
from evaluator.disclosure.policy import Afterwards, Kind, Policy, reveal

CONTESTS = 20_000


@dataclass(frozen=True)
class Measure:
    low: float = 0.0
    high: float = 1.0
    higher_is_better: bool | None = True


SHARE = Measure()
MEASURES = {
    "accuracy": SHARE,
    "error": Measure(higher_is_better=False),
    "correlation": Measure(low=-1.0),
    "odd": Measure(low=-0.33, high=0.33),
    "unbounded": Measure(high=math.inf),
}


def a_row(measure: str = "accuracy", slice_: dict[str, Any] | None = None, n_groups: int = 4, n: int = 4) -> Any:
    return {
        "measure": measure,
        "slice": slice_ or {},
        "value": None,
        "low": None,
        "high": None,
        "n": n,
        "n_groups": n_groups,
    }


def an_account(policy: Policy, rows: list[Any], primary: str = "accuracy") -> Account:
    return Account(policy, primary=primary, measure_of=MEASURES.__getitem__, groups=rows)


def sum_of_shares(account: Callable[[], Account], answers: list[Any], length: int, **options: Any) -> float:
    """Return the sum of 2^-bits over all sequences of `length` of these answers."""
    total = 0.0
    for sequence in itertools.product(answers, repeat=length):
        counted = account()
        for answer in sequence:
            counted.add(answer, **options)
        total += 2**-counted.bits
    return total


def values(measure: str, size: float) -> Iterator[float]:
    bounds = MEASURES[measure]
    value = bounds.low
    while value <= bounds.high + 1e-9:
        yield round(value, 12)
        value += size


@pytest.mark.parametrize("measure", ["accuracy", "error", "correlation"])
@pytest.mark.parametrize("competes", [True, False])
def test_the_code_of_a_ladder_is_a_prefix_code(measure: str, competes: bool) -> None:
    row = a_row(measure, n_groups=4, n=3)
    part = a_row(measure, {"part": "a"}, n_groups=1, n=2)
    size = ladder.step(MEASURES[measure], 4)
    whole = list(values(measure, size or 0))
    parts = [None, *values(measure, ladder.step(MEASURES[measure], 1) or 0)]
    scores = [
        [{**row, "value": value}, *([] if on_part is None else [{**part, "value": on_part, "n": n}])]
        for value in whole
        for on_part in parts
        for n in ((2,) if on_part is None else (2, 3))
    ]
    total = sum_of_shares(
        lambda: an_account(Policy(Kind.LADDER), [row, part], measure), [[], *scores], 2, competes=competes
    )
    assert 0 < total <= 1


@pytest.mark.parametrize("n_before", [1, 5])
def test_improvements_have_a_prefix_code_after_any_answers(n_before: int) -> None:
    row = a_row(n_groups=10_000, n=10_000)

    def cost(answer: list[Any]) -> float:
        account = an_account(Policy(Kind.LADDER), [row])
        for at in range(n_before):
            account.add([{**row, "value": 0.1 + 0.01 * at}])
        return account.add(answer)

    improvements = [[{**row, "value": round(0.01 * step, 12)}] for step in range(11 + n_before, 101)]
    assert sum(2 ** -cost(answer) for answer in [[], *improvements]) <= 1


@pytest.mark.parametrize("measure", ["accuracy", "odd"])
@pytest.mark.parametrize("detailed", [True, False])
def test_the_code_of_rounded_scores_is_a_prefix_code_without_waste(measure: str, detailed: bool) -> None:
    row = a_row(measure, n_groups=1, n=1)
    bounds, size = MEASURES[measure], rounding.step(MEASURES[measure], 1) or 0
    multiples = {rounding.nearest(value, size) for value in np.linspace(bounds.low, bounds.high, 500)}
    grid = sorted({min(max(value, bounds.low), bounds.high) for value in multiples} | {bounds.low, bounds.high})
    ends = [(None, None), *itertools.combinations_with_replacement(grid, 2)] if detailed else [(None, None)]
    answers = [[row], *([{**row, "value": value, "low": low, "high": high}] for value in grid for low, high in ends)]
    account = an_account(Policy(Kind.FULL), [row], measure)
    total = sum_of_shares(lambda: an_account(Policy(Kind.FULL), [row], measure), answers, 1, detailed=detailed)
    units = 2 ** -account.of_units(1)
    assert total == pytest.approx(units), "each outcome has its share"
    assert units < 1, "the number of units could have been another"


@given(st.lists(st.integers(0, 5), min_size=0, max_size=6))
def test_an_adaptive_code_is_a_prefix_code_after_any_numbers(numbers: list[int]) -> None:
    code = bits.AdaptiveCode()
    for number in numbers:
        code.add(number)
    assert sum(2 ** -code.cost(number) for number in range(4096)) <= 1


def test_numbers_of_units_are_ranked_by_what_is_shown_of_them() -> None:
    shown = sorted({rounding.count(n) for n in range(30_000)})
    assert [bits._rank_of_count(n) for n in shown] == list(range(len(shown)))


@given(st.integers(1, 400), st.integers(1, 10**5))
def test_all_relative_values_of_an_unbounded_measure_are_counted(n_groups: int, scale: int) -> None:
    """In an e-fold above any number there are no more multiples of the steps than counted."""
    value, n = float(scale), 0
    while value < scale * math.e and n < 10**4:
        value += rounding.relative_step(value, n_groups)
        n += 1
    assert n <= bits.n_relative(n_groups) / (2 * bits._E_FOLDS) + 1


@given(
    st.lists(
        st.tuples(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1), st.booleans()),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from([Policy(Kind.FULL), Policy(Kind.FULL, exact=True), Policy(Kind.FULL, detailed_answers=2)]),
)
def test_an_account_by_shape_is_that_of_the_answers(answers: Any, policy: Policy) -> None:
    rows = [a_row(n_groups=50, n=60), a_row("unbounded", n_groups=50, n=60), a_row("error", {"a": 1}, 20, 25)]
    account = an_account(policy, rows)
    shape = an_account(policy, rows)
    n_detailed = sum(policy.is_detailed(at) for at in range(len(answers)))
    for at, (value, low, high, has_interval) in enumerate(answers):
        interval = {"low": min(low, high), "high": max(low, high)} if has_interval else {}
        scores = [{**row, "value": value, **interval} for row in rows]
        shown = reveal(policy, scores, primary="accuracy", measure_of=MEASURES.__getitem__, n_earlier=at)
        account.add(shown, detailed=policy.is_detailed(at))
    expected = n_detailed * sum(shape.of_answer(True).values())
    expected += (len(answers) - n_detailed) * sum(shape.of_answer(False).values())
    assert account.bits == pytest.approx(expected + shape.of_units(len(answers)))


def test_an_answer_without_scores_costs_little_and_improvements_cost_more() -> None:
    account = an_account(Policy(Kind.LADDER), [a_row(n_groups=400, n=400)])
    first = account.add([{**a_row(n_groups=400, n=400), "value": 0.5}])
    nothing = [account.add([]) for _ in range(50)]
    gained = account.add([{**a_row(n_groups=400, n=400), "value": 0.55}])
    assert first > gained > nothing[0] > 2 * nothing[-1] > 0
    assert sum(account.by_kind.values()) == account.bits


def test_each_team_has_its_own_first_value_on_a_ladder_of_its_own() -> None:
    row = {**a_row(n_groups=400, n=400), "value": 0.5}
    account = an_account(Policy(Kind.LADDER), [a_row(n_groups=400, n=400)])
    account.add([row], on="a")
    before = account.by_kind["overall"]
    account.add([row], on="b")
    assert account.by_kind["overall"] - before == pytest.approx(math.log2(22))


def test_a_slice_that_the_gold_does_not_have_is_an_error() -> None:
    account = an_account(Policy(Kind.FULL), [a_row()])
    with pytest.raises(KeyError, match="colour"):
        account.add([a_row(slice_={"colour": "red"})])


def test_later_answers_without_details_cost_less() -> None:
    rows = [a_row(n_groups=100, n=100), a_row("error", n_groups=100, n=100), a_row(slice_={"a": 1}, n_groups=50, n=50)]
    policy = Policy(Kind.FULL, detailed_answers=1, afterwards=Afterwards.IMPROVEMENTS)
    account = an_account(policy, rows)
    assert set(account.of_answer(True)) == {"overall", "slices"}
    detailed = account.add([{**row, "value": 0.5} for row in rows])
    assert account.add([], detailed=False) < account.add([{**rows[0], "value": 0.7}], detailed=False) < detailed / 3


@settings(max_examples=30)
@given(st.integers(1, 10**4), st.floats(0.01, 0.99))
def test_bits_and_gains_are_inverse(n: int, gained: float) -> None:
    count = bits.n_bits(gained, n)
    assert count == 0 or bits.most_gained(count, n) == pytest.approx(gained)


@pytest.mark.parametrize("n_bits", [0.01, 1, 4, 8])
@pytest.mark.parametrize("n", [10, 50, 1000])
def test_the_best_of_all_files_that_were_possible_seldom_exceeds_the_bound(n_bits: float, n: int) -> None:
    """With I bits, somebody who sees the best of 2^I files that were fixed beforehand does all that I bits can do."""
    rng = np.random.default_rng(round(n_bits) + n)
    right = rng.binomial(n, 0.5, size=(CONTESTS, max(1, int(2**n_bits))))
    excess = right.max(axis=1) / n - 0.5
    assert (excess > bits.most_gained(n_bits, n)).mean() <= bits.DOUBT


@pytest.mark.parametrize(("policy", "n"), [(Policy(Kind.LADDER), 100), (Policy(Kind.FULL), 400)])
def test_climbers_and_boosters_seldom_exceed_the_bound(policy: Policy, n: int) -> None:
    """Files at random, each shown by the policy, then the vote of those above chance: what is shown and what is true.

    One account is the slow part, so that the bits of the contests with the fewest are taken for all.
    """
    rng = np.random.default_rng(n)
    n_files, least = 12, math.inf
    row = a_row(n_groups=n, n=n)
    labels = rng.integers(0, 2, size=(CONTESTS // 10, n), dtype=np.int8)
    files = rng.integers(0, 2, size=(n_files, n), dtype=np.int8)
    shares = np.stack([(labels == file).mean(axis=1) for file in files], axis=1)
    for row_of_shares in shares[:200]:
        account, best = an_account(policy, [row]), None
        for at, share in enumerate(row_of_shares):
            scores = [{**row, "value": float(share)}]
            shown = reveal(policy, scores, primary="accuracy", measure_of=MEASURES.__getitem__, best=best, n_earlier=at)
            account.add(shown, detailed=True)
            best = shown[0]["value"] if shown else best
        least = min(least, account.bits)
    votes = np.sign(shares - 0.5) @ (2.0 * files - 1) > 0
    excess = (votes == labels).mean(axis=1) - 0.5
    assert excess.mean() > 0.02, "the attack works"
    assert (excess > bits.most_gained(least, n)).mean() <= bits.DOUBT
