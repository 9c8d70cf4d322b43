"""The public/private split: by group, deterministic for a seed, and stable when gold is corrected."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.splitting.public_private import PublicPrivateSplit, split_public_private
from evaluator.errors import UsageError

GROUPS = st.sets(st.integers() | st.text(), min_size=2, max_size=40)
SHARES = st.fractions(Fraction(1, 50), Fraction(49, 50))


@given(groups=GROUPS, seed=st.integers(0, 10**18), share=SHARES)
@settings(deadline=None)
def test_each_group_is_on_one_side_and_the_share_is_rounded_half_up(groups, seed, share):
    public, private = split_public_private(groups, seed=seed, share=share)
    assert public | private == groups
    assert not public & private
    numerator, denominator = (share * len(groups)).as_integer_ratio()
    rounded = (2 * numerator + denominator) // (2 * denominator)
    assert len(public) == min(max(rounded, 1), len(groups) - 1)


@given(groups=GROUPS, seed=st.integers(0, 1000), shuffled=st.randoms())
@settings(deadline=None)
def test_order_and_repetition_do_not_matter(groups, seed, shuffled):
    rows = [*groups, *groups]
    shuffled.shuffle(rows)
    assert split_public_private(rows, seed=seed) == split_public_private(groups, seed=seed)


@given(groups=GROUPS, removed=GROUPS, seed=st.integers(0, 1000), share=SHARES, other=st.integers(0, 1000))
@settings(deadline=None)
def test_a_correction_moves_no_remaining_group(groups, removed, seed, share, other):
    before = split_public_private(groups | removed, seed=seed, share=share)
    added = {f"added {number}" for number in range(5)}
    after = split_public_private((groups - removed) | added, seed=other, share=share, previous=before)
    remaining = groups - removed
    assert after.public & remaining == before.public & remaining
    assert after.private & remaining == before.private & remaining


def test_new_groups_restore_the_share():
    """All ten earlier groups are public; of thirty, fifteen should be: five of the new ones."""
    previous = PublicPrivateSplit(frozenset(range(10)), frozenset())
    after = split_public_private(range(30), seed=1, previous=previous)
    assert (len(after.public), len(after.private)) == (15, 15)
    assert after.public >= set(range(10))


def test_a_group_is_public_as_often_as_the_share_over_seeds():
    times = sum(7 in split_public_private(range(50), seed=seed, share="0.3").public for seed in range(2000))
    assert 520 < times < 680  # 600 expected, four standard deviations are 82
    assert len({split_public_private(range(50), seed=seed).public for seed in range(20)}) == 20


def test_a_string_and_an_integer_are_two_groups():
    public, private = split_public_private([1, "1"], seed=3)
    assert {type(next(iter(side))) for side in (public, private)} == {int, str}


def test_the_share_is_read_as_a_decimal():
    """0.145 of 100 is 14.5, which rounds to 15; the nearest binary fraction is below 0.145."""
    assert len(split_public_private(range(100), seed=0, share=0.145).public) == 15
    assert len(split_public_private(range(100), seed=0, share="0.145").public) == 15


@pytest.mark.parametrize(
    ("groups", "arguments", "message"),
    [
        ([1], {}, "the gold has 1 group, expected at least two groups"),
        ([1, 2], {"share": 0}, "above 0 and below 1"),
        ([1, 2], {"share": 1.0}, "above 0 and below 1"),
        ([1, 2], {"share": "half"}, 'share is "half"'),
        ([1, 2], {"share": float("nan")}, "above 0 and below 1"),
        ([1, 2], {"share": "1e-99999999"}, 'share is "1e-99999999"'),
        ([1, 2], {"share": "1/0"}, "above 0 and below 1"),
        ([1, 2], {"seed": -1}, "seed is -1"),
        ([1, 2], {"previous": PublicPrivateSplit(frozenset({1}), frozenset({1}))}, "both public and private"),
        (
            range(2, 4),
            {"previous": PublicPrivateSplit(frozenset({2}), frozenset({2, 3}))},
            "group 2 is both public and private",
        ),
    ],
)
def test_invalid_arguments_are_wrong_usage(groups, arguments, message):
    with pytest.raises(UsageError, match=message):
        split_public_private(groups, **{"seed": 0, **arguments})


def test_one_side_may_become_empty_after_a_correction():
    """Remaining groups keep their side, even if the other side has no group left."""
    sides = PublicPrivateSplit(frozenset({1, 2}), frozenset({3}))
    assert split_public_private([1, 2], seed=0, previous=sides) == PublicPrivateSplit(frozenset({1, 2}), frozenset())
