"""Mentions are permuted: none is lost or added, and facts that remain correct are counted."""

import random
import re
from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.corruption.dates import Date, find_dates
from evaluator.curation.corruption.expected import Expected
from evaluator.curation.corruption.names import names_in, replace_names
from evaluator.curation.corruption.shuffle import permute_dates, permute_names

NAMES = ["Ann", "Bob", "Cy", "Di", "Ann Lee"]
name = st.sampled_from(NAMES)
facts = st.lists(st.tuples(name, st.sampled_from(["knows", "likes"]), name), max_size=6)
days = st.dates().filter(lambda date: date.year >= 1000).map(lambda date: Date(date.year, date.month, date.day))
leap_days = st.sampled_from([Date(year, 2, 29) for year in (1896, 1904, 2000)])


def iso(date):
    return f"{date.year:04d}-{date.month:02d}-{date.day:02d}"


@given(st.lists(days | leap_days, min_size=1, max_size=7, unique=True), st.integers(0, 99))
@settings(deadline=None)
def test_days_and_months_are_permuted_and_years_are_kept(dates, seed):
    given_facts = [("x", f"on {i}", iso(date)) for i, date in enumerate(dates)]
    text = ", ".join(map(iso, dates))
    result = permute_dates(given_facts, text, "x", random.Random(seed))
    after = [next(find_dates(object_)).date for _, _, object_ in result.facts]  # each is a date
    assert [date.year for date in after] == [date.year for date in dates]
    assert Counter(date[1:] for date in after) == Counter(date[1:] for date in dates)
    assert result.text == ", ".join(object_ for _, _, object_ in result.facts)
    assert result.mentions == len(dates)
    assert result.replaced == sum(old != new for old, new in zip(dates, after, strict=True))


@pytest.mark.parametrize(
    "dates",
    [
        [Date(1901, 5, 3), Date(1902, 6, 4), Date(1903, 7, 5)],
        [Date(1904, 2, 29), Date(1901, 5, 3), Date(1908, 6, 4), Date(1903, 7, 5)],
    ],
)
def test_valid_permutations_of_dates_are_equally_likely(dates):
    allowed = [
        tuple(order)
        for order in permutations(date[1:] for date in dates)
        if all(pair != (2, 29) or date.year % 4 == 0 for pair, date in zip(order, dates, strict=True))
    ]
    counts = Counter()
    for seed in range(200 * len(allowed)):
        result = permute_dates([("x", "on", iso(date)) for date in dates], None, None, random.Random(seed))
        counts[tuple(next(find_dates(object_)).date[1:] for _, _, object_ in result.facts)] += 1
    assert set(counts) == set(allowed)
    assert all(120 < times < 280 for times in counts.values())


def test_a_date_moves_in_all_its_forms():
    text = "Born May 3, 1901 (1901-05-03), died 4 June 1950."
    for seed in range(20):
        result = permute_dates([("x", "born", "3 May 1901")], text, "x", random.Random(seed))
        if result.replaced:
            assert result.text == "Born June 4, 1901 (1901-06-04), died 3 May 1950."
            assert result.facts == [("x", "born", "4 June 1901")]
            break
    else:
        pytest.fail("no seed moved the dates")


@given(facts, st.sets(name), st.integers(0, 99))
@settings(deadline=None)
def test_names_are_permuted(given_facts, names, seed):
    ends = [end for s, _, o in given_facts for end in (s, o)]
    text = " met ".join(ends)
    result = permute_names(given_facts, text, ends[0] if ends else None, names, random.Random(seed))
    assert result.mentions == len(set(ends) & names)
    after = [end for s, _, o in result.facts for end in (s, o)]
    moved = dict(zip(ends, after, strict=True))
    assert sorted(moved) == sorted(moved.values())  # a permutation
    assert all(old == new or old in names for old, new in moved.items())
    assert result.text == " met ".join(after)
    assert [relation for _, relation, _ in result.facts] == [relation for _, relation, _ in given_facts]
    assert result.subject == (after[0] if ends else None)


def test_names_inside_longer_names_are_not_replaced():
    facts_ = [("Ann", "taught at", "Uldale Academy"), ("Ann", "born in", "Uldale"), ("Ann", "died in", "Riff")]
    text = "Uldale Academy is in Uldale, not in Riff or Riffton."
    becomes = {permute_names(facts_, text, None, {"Uldale", "Riff"}, random.Random(seed)).text for seed in range(20)}
    assert becomes == {text, "Uldale Academy is in Riff, not in Uldale or Riffton."}


def test_names_that_stay_are_not_replaced_inside():
    """A permutation may leave a longer name, such as New York, in place; so does `--keep-subject` with the subject."""
    names = {"York", "New York", "Paris", "Rome"}
    text = "He left York for New York, then Paris and Rome."
    for seed in range(24):
        result = permute_names([], text, None, names, random.Random(seed))
        order = re.findall("New York|York|Paris|Rome", result.text)
        assert sorted(order) == sorted(names)
        subject = permute_names([], text, "New York", names - {"New York"}, random.Random(seed))
        assert " for New York, " in subject.text
        assert subject.mentions == 3
    assert permute_names([], "New York", "New York", {"York", "Rome"}, random.Random(0)).mentions == 0


def test_whole_names_are_replaced_simultaneously():
    assert replace_names("a.b ab (a.b) A.B", {"a.b": "ab", "ab": "a.b"}) == "ab a.b (ab) A.B"
    assert replace_names("Ann Lee and Ann", {"Ann": "Bob", "Ann Lee": "Cy"}) == "Cy and Bob"
    assert names_in("Ann Lee and Bob", {"Ann", "Bob", "Cy"}, ["Ann Lee"]) == {"Bob"}
    assert replace_names("Ann", {}) == "Ann"


@given(facts, facts)
@settings(deadline=None)
def test_expected_accuracy_is_counted(gold, corrupted):
    expected = Expected()
    expected.add(gold, corrupted)
    right = [fact for fact in dict.fromkeys(corrupted) if fact in gold]
    known = [fact for fact in dict.fromkeys(corrupted) if any(fact[:2] == other[:2] for other in gold)]
    assert (expected.facts, expected.right) == (len(dict.fromkeys(corrupted)), len(right))
    assert expected.verifiable == len(known)
    assert expected.accuracy == (len(right) / len(set(corrupted)) if corrupted else None)
    assert expected.fact_acc == (len(right) / len(known) if known else None)
