"""Rankings have the highest scores first, ties by name, within the limit of the task."""

import numpy as np
import pytest

from evaluator.reference_systems.graphs.predict import best


@pytest.mark.parametrize("most", [1, 2, 3, 5, 9])
def test_the_best_agree_with_a_full_sort(most) -> None:
    rng = np.random.default_rng(most)
    for _ in range(50):
        scores = rng.integers(0, 4, 7).astype(float)
        scores[rng.random(7) < 0.2] = -np.inf
        full = sorted((i for i in range(7) if scores[i] > -np.inf), key=lambda i: (-scores[i], i))
        assert best(scores, most).tolist() == full[:most]
