"""ROC curves against scikit-learn, and the information that a curve keeps or loses on its lattice."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score, roc_curve

from evaluator.plots.roc import LEAST_STEPS, MOST_STEPS, on_lattice, roc, steps_for

FEW_SCORES = st.lists(st.tuples(st.integers(0, 6), st.booleans()), min_size=2, max_size=60).filter(
    lambda rows: 0 < sum(label for _, label in rows) < len(rows)
)


def columns(rows: list[tuple[int, bool]]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([score for score, _ in rows], dtype=float), np.array([label for _, label in rows])


@given(FEW_SCORES)
def test_vertices_equal_those_of_scikit_learn(rows: list[tuple[int, bool]]) -> None:
    scores, labels = columns(rows)
    across, up, _ = roc_curve(labels, scores, drop_intermediate=False)
    curve = roc(scores, labels)
    assert curve.false_positives / curve.n_negative == pytest.approx(across)
    assert curve.true_positives / curve.n_positive == pytest.approx(up)


def height_by_search(rows: list[tuple[int, bool]], x: Fraction) -> Fraction:
    """The highest point of the curve at x, from every threshold and the line between it and the next one."""
    n_right = sum(label for _, label in rows)
    n_wrong = len(rows) - n_right
    points = [(Fraction(0), Fraction(0))]
    for threshold in sorted({score for score, _ in rows}, reverse=True):
        taken = [label for score, label in rows if score >= threshold]
        points.append((Fraction(len(taken) - sum(taken), n_wrong), Fraction(sum(taken), n_right)))
    heights = [y for at, y in points if at == x]
    for (x1, y1), (x2, y2) in pairwise(points):
        if x1 < x < x2:
            heights.append(y1 + (y2 - y1) * (x - x1) / (x2 - x1))
    return max(heights)


@given(FEW_SCORES, st.integers(1, 12))
def test_heights_equal_the_curve_rounded_to_half_a_step(rows: list[tuple[int, bool]], steps: int) -> None:
    heights = on_lattice(roc(*columns(rows)), steps)
    exact = [height_by_search(rows, Fraction(k, steps)) * steps for k in range(steps + 1)]
    assert list(heights) == [int(height + Fraction(1, 2)) for height in exact]
    assert list(heights) == sorted(heights) and heights[-1] == steps


@given(FEW_SCORES, st.randoms())
def test_row_order_and_score_scale_do_not_change_the_curve(rows: list[tuple[int, bool]], random) -> None:  # type: ignore[no-untyped-def]
    shuffled = [(score * 7 - 100, label) for score, label in rows]
    random.shuffle(shuffled)
    assert on_lattice(roc(*columns(rows)), 10) == on_lattice(roc(*columns(shuffled)), 10)


def test_area_under_the_lattice_approximates_the_auroc() -> None:
    random = np.random.default_rng(5)
    labels = random.random(20_000) < 0.4
    scores = random.normal(size=20_000) + labels
    heights = np.array(on_lattice(roc(scores, labels), 100)) / 100
    area = float(np.sum((heights[1:] + heights[:-1]) / 2) / 100)
    assert area == pytest.approx(roc_auc_score(labels, scores), abs=0.01)


def test_constant_scores_give_the_diagonal_and_a_perfect_order_the_corner() -> None:
    labels = np.arange(40) < 20
    assert on_lattice(roc(np.zeros(40), labels), 5) == (0, 1, 2, 3, 4, 5)
    assert on_lattice(roc(labels.astype(float), labels), 5) == (5,) * 6


@pytest.mark.parametrize(
    ("n_groups", "positive", "negative", "expected"),
    [
        (300, 150, 150, 17),
        (40, 150, 150, 6),
        (1000, 10, 990, 4),
        (1000, 990, 10, 4),
        (1000, 7, 993, None),
        (15, 8, 7, None),
        (10**6, 500_000, 500_000, MOST_STEPS),
        (100, 100, 0, None),
    ],
)
def test_the_rarer_class_limits_the_number_of_steps(
    n_groups: int, positive: int, negative: int, expected: int | None
) -> None:
    assert steps_for(n_groups, positive, negative) == expected
    assert expected is None or expected >= LEAST_STEPS


def test_one_claim_changes_no_height_by_more_than_one_step() -> None:
    """Moving one of 300 claims from the bottom to the top shows whether a height changes, not the claim's label."""
    random = np.random.default_rng(2)
    labels = np.arange(300) < 150
    scores = random.permutation(300).astype(float)
    steps = steps_for(300, 150, 150)
    assert steps is not None
    before = np.array(on_lattice(roc(scores, labels), steps))
    unchanged = 0
    for i in range(300):
        moved = scores.copy()
        moved[i] = 1000
        after = np.array(on_lattice(roc(moved, labels), steps))
        assert np.max(np.abs(after - before)) <= 1
        unchanged += np.array_equal(after, before)
    assert unchanged > 0


def guess_labels(heights: tuple[int, ...], n: int) -> np.ndarray:
    """The likely labels given a curve, from the highest score down: true where the curve rises more than it runs.

    Half of the n claims are true; the submitter of the scores knows their order.
    """
    steps = len(heights) - 1
    up, across = (np.array([0, *side]) * (n // 2) / steps for side in (heights, range(steps + 1)))
    guessed = np.zeros(n, dtype=bool)
    for k in range(steps + 1):
        begin, end = up[k] + across[k], up[k + 1] + across[k + 1]
        guessed[round(begin) : round(end)] = 2 * (up[k + 1] - up[k]) > end - begin
    return guessed


@pytest.mark.parametrize(("n", "at_most"), [(300, 0.06), (1000, 0.04), (4000, 0.02)])
def test_a_curve_does_not_reveal_the_labels(n: int, at_most: float) -> None:
    """Claims in random order: how much a published curve improves on guessing. The exact curve is the control."""
    steps = steps_for(n, n // 2, n // 2)
    assert steps is not None
    gains, exact_accuracies = [], []
    for seed in range(40):
        labels = np.random.default_rng(seed).permutation(n) % 2 == 0
        curve = roc(-np.arange(n, dtype=float), labels)
        gains.append(np.mean(guess_labels(on_lattice(curve, steps), n) == labels) - 0.5)
        exact_accuracies.append(np.mean((np.diff(curve.true_positives) > 0) == labels))
    assert np.mean(gains) <= at_most
    assert min(exact_accuracies) == 1.0, "the control does not reveal the labels"
