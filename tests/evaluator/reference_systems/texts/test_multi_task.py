"""The multi-task model and its thresholds, against brute force."""

import numpy as np
import pytest

from evaluator.reference_systems.texts.multi_task import NO_EXAMPLE, MultiTaskModel, best_threshold


def f1(probabilities, labels, threshold: float) -> float:
    yes = probabilities >= threshold
    return 2 * (yes & labels).sum() / (yes.sum() + labels.sum())


@pytest.mark.parametrize("seed", range(5))
def test_the_threshold_has_the_highest_f1(seed: int) -> None:
    rng = np.random.default_rng(seed)
    probabilities, labels = rng.integers(1, 8, 30) / 8, rng.random(30) < 0.4
    best = max(f1(probabilities, labels, value) for value in probabilities)
    assert f1(probabilities, labels, best_threshold(probabilities, labels)) == best


def test_a_task_without_positive_examples_has_the_default_threshold() -> None:
    assert best_threshold(np.array([0.2, 0.9]), np.array([False, False])) == NO_EXAMPLE


def test_tasks_learn_from_their_own_rows_and_share_weights() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    # Feature 0 decides task a, feature 1 task b; feature 2 decides both, but task b has no row with it.
    features = sparse.csr_matrix(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]] * 10, dtype=np.float32))
    rows = np.arange(40, dtype=np.int64)
    without = rows[rows % 4 != 2]
    model = MultiTaskModel.fit(features, {"b": (without, without % 4 == 1), "a": (rows, np.isin(rows % 4, [0, 2]))})
    assert model.tasks == ["a", "b"]
    (a0, b0), (a1, b1), (a2, b2), (a3, b3) = model.probabilities(features[:4]).tolist()
    assert min(a0, a2, b1) > 0.5 > max(a1, a3, b0, b3)
    assert b2 > b3  # by the shared weights alone
    assert a2 > b2


@pytest.mark.parametrize("label", [True, False])
def test_one_label_alone_gives_that_label(label: bool) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    features = sparse.csr_matrix(np.ones((3, 2), dtype=np.float32))
    model = MultiTaskModel.fit(features, {"a": (np.arange(3), np.full(3, label))})
    assert (model.probabilities(features) > 0.5).tolist() == [[label]] * 3
