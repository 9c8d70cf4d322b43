"""Near duplicates against comparing all pairs."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.audit.duplicates import similar_texts
from evaluator.curation.audit.duplicates.similar_texts import near_pairs
from evaluator.errors import UsageError
from tests.support.full_run import examples

texts = st.lists(st.lists(st.sampled_from("abcd"), max_size=7).map(" ".join), max_size=12)
thresholds = st.sampled_from([0.05, 0.3, 0.5, 0.6, 2 / 3, 0.7, 0.75, 0.8, 1.0])


def grams(text):
    words = ["<", *re.findall(r"\w+", text.lower()), ">"]
    return set(itertools.pairwise(words)) if len(words) > 2 else set()


def jaccard(a, b):
    a, b = grams(a), grams(b)
    return len(a & b) / len(a | b) if a and b else 0.0


@given(texts, thresholds)
@settings(deadline=None, max_examples=examples(300))
def test_exactly_the_similar_pairs_are_found(texts_a, threshold):
    near = near_pairs(texts_a, threshold=threshold)
    expected = [
        (i, j, pytest.approx(jaccard(texts_a[i], texts_a[j])))
        for i, j in itertools.combinations(range(len(texts_a)), 2)
        if jaccard(texts_a[i], texts_a[j]) >= threshold - 1e-9
    ]
    assert near.whole
    assert [tuple(pair) for pair in near.pairs] == expected


@given(texts, texts, thresholds)
@settings(deadline=None, max_examples=examples(300))
def test_two_files(texts_a, texts_b, threshold):
    expected = [
        (i, j)
        for i, j in itertools.product(range(len(texts_a)), range(len(texts_b)))
        if jaccard(texts_a[i], texts_b[j]) >= threshold - 1e-9
    ]
    assert [pair[:2] for pair in near_pairs(texts_a, texts_b, threshold=threshold).pairs] == expected


def test_case_and_punctuation_are_ignored():
    (pair,) = near_pairs(["A cat, sat.", "a cat sat", "?"], threshold=1).pairs
    assert pair == (0, 1, 1.0)


def test_the_search_stops_at_its_limits_and_reports_it(monkeypatch):
    assert not near_pairs(["a b"] * 6, most=5).whole
    assert len(near_pairs(["a b"] * 6, most=5).pairs) == 5
    monkeypatch.setattr(similar_texts, "MOST_COMPARED", 3)
    assert not near_pairs(["a b"] * 6).whole


def test_an_invalid_threshold_is_refused():
    for threshold in (0, 1.5, float("nan")):
        with pytest.raises(UsageError, match="expected a number above 0 and at most 1"):
            near_pairs(["a"], threshold=threshold)
