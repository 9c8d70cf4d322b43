"""Coverage of intervals and levels of tests, in a thousand or more trials on systems with known true values.

It takes a quarter of an hour of one core; `pytest tests/benchmark/test_coverage.py -m slow -s` prints the figures. The
unit tests include a short version of each test (test_intervals_short.py).
"""

import pytest

from tests.support.simulated_outcomes import ORDERS, SUMS, by_rows, coverage, rejections, simulate_pair, simulate_scores

pytestmark = pytest.mark.slow
TRIALS = 1000
TRIALS_OF_LEVELS = 2500  # with 1,000 trials a share of 5 % has a standard error of 0.7 %, nearly half of the tolerance
RATES = (0.6, 0.9)
SIZES = pytest.mark.parametrize("sizes", ["geometric", "lognormal"])
RATE = pytest.mark.parametrize("rate", RATES)


@pytest.fixture
def show(capsys):
    def show(what, figures):
        with capsys.disabled():
            print(f"\n{what}")
            for name, figure in figures.items():
                print(f"  {name:10}", f"{figure:.1%}" if isinstance(figure, float) else figure)

    return show


def assert_covered(coverages):
    assert all(0.93 <= covered.held <= 0.97 for covered in coverages.values()), coverages


@RATE
@SIZES
@pytest.mark.parametrize(("n_groups", "shared"), [(200, 0.1), (200, 0.3), (1000, 0.3)])
def test_intervals_of_sums_cover_the_truth(n_groups, shared, sizes, rate, show):
    coverages = coverage(SUMS, n_groups=n_groups, rate=rate, trials=TRIALS, resamples=1000, shared=shared, sizes=sizes)
    show(f"95 % intervals, {n_groups} groups, {sizes} sizes, {shared} shared, rate {rate}", coverages)
    assert_covered(coverages)


@RATE
@pytest.mark.parametrize(
    ("n_groups", "sizes", "resamples"), [(200, "geometric", 1000), (200, "lognormal", 1000), (1000, "lognormal", 400)]
)
def test_intervals_of_orders_cover_the_truth(n_groups, sizes, resamples, rate, show):
    coverages = coverage(ORDERS, n_groups=n_groups, rate=rate, trials=TRIALS, resamples=resamples, sizes=sizes)
    show(f"95 % intervals, {n_groups} groups, {sizes} sizes, 0.3 shared, rate {rate}, {resamples} resamples", coverages)
    assert_covered(coverages)


@RATE
@pytest.mark.parametrize(("n_groups", "sizes"), [(50, "geometric"), (50, "lognormal"), (200, "zipf")])
@pytest.mark.parametrize(("measures", "trials"), [(SUMS, TRIALS), (ORDERS, 500)], ids=["sums", "orders"])
def test_intervals_where_few_groups_decide(measures, trials, n_groups, sizes, rate, show):
    """Prints the coverage, and asserts only a minimum."""
    coverages = coverage(measures, n_groups=n_groups, rate=rate, trials=trials, resamples=1000, sizes=sizes)
    show(f"95 % intervals, {n_groups} groups, {sizes} sizes, 0.3 shared, rate {rate}, {trials} trials", coverages)
    assert all(covered.held > 0.9 for covered in coverages.values()), coverages


@RATE
def test_resampling_rows_instead_of_groups_covers_too_little(rate, show):
    coverages = coverage(SUMS, n_groups=200, rate=rate, trials=TRIALS, resamples=1000, view=by_rows)
    show(
        f"95 % intervals, rows of 200 groups resampled one by one, geometric sizes, 0.3 shared, rate {rate}", coverages
    )
    assert all(covered.held < 0.9 for covered in coverages.values()), coverages


def assert_level(shares):
    assert all(0.035 <= share <= 0.065 for share in shares.values()), shares


@RATE
@pytest.mark.parametrize("n_groups", [50, 200, 1000])
def test_permutations_hold_their_level(rate, n_groups, show):
    shares = rejections(
        SUMS, lambda random: simulate_pair(n_groups, rate, random), trials=TRIALS_OF_LEVELS, resamples=499
    )["p"]
    show(f"equal systems significantly different at 5 %, {n_groups} groups, rate {rate}", shares)
    if n_groups > 50:
        assert_level(shares)


@pytest.mark.parametrize(("n_groups", "rate"), [(200, 0.6), (200, 0.9), (1000, 0.9)])
def test_permutations_of_scores_hold_their_level(n_groups, rate, show):
    shares = rejections(ORDERS, lambda random: simulate_scores(n_groups, rate, random), trials=TRIALS, resamples=199)[
        "p"
    ]
    show(f"equal scores significantly different at 5 %, {n_groups} groups, rate {rate}", shares)
    assert_level(shares)


@RATE
def test_mcnemar_holds_its_level_on_independent_units(rate, show):
    accuracy = SUMS[1:2]
    single = rejections(
        accuracy, lambda random: simulate_pair(1000, rate, random, single=True), trials=TRIALS_OF_LEVELS, resamples=499
    )
    show(
        f"equal systems significantly different by McNemar's test at 5 %, 1,000 units, rate {rate}", single["p_mcnemar"]
    )
    show(f"the same by permutation, 1,000 units, rate {rate}", single["p"])
    assert 0.02 <= single["p_mcnemar"]["accuracy"] <= 0.065  # an exact test may reject less often, never more often
    assert_level(single["p"])


@RATE
def test_mcnemar_exceeds_its_level_on_dependent_rows(rate, show):
    def pair(random):
        return [by_rows(outcomes) for outcomes in simulate_pair(400, rate, random)]

    shares = rejections(SUMS[1:2], pair, trials=TRIALS, resamples=1)["p_mcnemar"]
    show(f"the same by McNemar's test, rows of 400 groups treated as independent units, rate {rate}", shares)
    assert shares["accuracy"] > 0.065


@RATE
@pytest.mark.parametrize("gain", [0.1, 0.2])
def test_power(rate, gain, show):
    shares = rejections(SUMS, lambda random: simulate_pair(200, rate, random, gain), trials=TRIALS // 2, resamples=499)[
        "p"
    ]
    show(f"power at 5 %, 200 groups, rate {rate}, {gain:.0%} of the errors corrected", shares)
    assert all(share > 0.065 for share in shares.values()), shares
