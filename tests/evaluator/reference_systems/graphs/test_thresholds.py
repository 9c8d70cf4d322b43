"""Thresholds by relation have the highest accuracy on the labelled claims."""

import numpy as np
import pytest

from evaluator.reference_systems.graphs.embeddings import Thresholds


def test_each_relation_has_its_threshold() -> None:
    scores = np.array([1.0, 2.0, 3.0, 4.0, 11.0, 12.0, 13.0, 14.0])
    labels = np.array([False, False, True, True] * 2)
    thresholds = Thresholds(scores, labels, ["a"] * 4 + ["b"] * 4)
    assert thresholds.of(["a", "b"]).tolist() == [2.5, 12.5]


@pytest.mark.parametrize(("label", "right"), [(True, True), (False, False)])
def test_a_relation_with_one_label_has_the_threshold_of_all_where_that_is_right(label, right) -> None:
    scores, labels = np.array([0.0, 1.0, 5.0, 6.0]), np.array([False, False, True, True])
    overall = Thresholds(scores, labels, ["a"] * 4).of(["new"])[0]
    assert overall == 3
    extra = 5.0 if label else 1.0
    thresholds = Thresholds(np.r_[scores, extra], np.r_[labels, label], ["a"] * 4 + ["b"])
    assert thresholds.of(["b"])[0] == pytest.approx(thresholds.of(["new"])[0])


def test_the_accuracy_is_the_highest_of_all_thresholds() -> None:
    rng = np.random.default_rng(1)
    for _ in range(200):
        scores, labels = rng.integers(0, 6, 8).astype(float), rng.random(8) < 0.5
        threshold = Thresholds(scores, labels, ["r"] * 8).of(["r"])[0]
        best = max(((scores > place) == labels).sum() for place in np.arange(-0.5, 6))
        assert ((scores > threshold) == labels).sum() == best


def test_without_claims_nothing_is_subtracted() -> None:
    assert Thresholds(np.zeros(0), np.zeros(0, dtype=bool), []).of(["r"]).tolist() == [0]
