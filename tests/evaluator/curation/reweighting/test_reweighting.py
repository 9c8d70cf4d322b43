"""Re-weighting: the objective equals its definition, derivatives equal differences, minima are as good as SciPy's."""

from __future__ import annotations

import json

import evaluator.blas  # noqa: F401  - before NumPy: threads that wait for each other take most of the time

# isort: split
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.optimize import minimize

from evaluator.curation.reweighting import objective, presence_of, reweight, solver
from evaluator.curation.reweighting.problem import ReweightingProblem
from evaluator.errors import UsageError
from evaluator.statistics.ngrams import FEVER_FREQUENT

LABELS = ("NO", "YES", "MAYBE")


def objective_by_loops(presence, labels, alpha, penalty):
    """Equations 2 and 3 in loops."""
    total = 0.0
    for column in presence.T:
        weight = dict.fromkeys(labels, 0.0)
        for holds, label, a in zip(column, labels, alpha, strict=True):
            weight[label] += holds * (1 + a)
        if sum(weight.values()):
            total += max(weight.values()) / sum(weight.values())
    return total + penalty * sum(a * a for a in alpha) ** 0.5


def simulate(seed, n_claims, n_ngrams, n_labels=2):
    """Claims whose n-grams correlate with labels."""
    random = np.random.default_rng(seed)
    presence = (random.random((n_claims, n_ngrams)) < random.uniform(0.02, 0.25, n_ngrams)).astype(float)
    lean = presence @ random.normal(size=(n_ngrams, n_labels)) + random.gumbel(size=(n_claims, n_labels))
    return presence, [LABELS[i] for i in lean.argmax(axis=1)]


@st.composite
def problems(draw):
    shape = draw(st.tuples(st.integers(1, 8), st.integers(1, 6)))
    presence = draw(arrays.arrays(float, shape, elements=st.sampled_from([0.0, 1.0])))
    labels = draw(st.lists(st.sampled_from(LABELS), min_size=shape[0], max_size=shape[0]))
    return presence, labels, draw(st.sampled_from([0.0, 0.003, 0.05, 0.4, 2.0]))


@given(problem=problems(), data=st.data())
@settings(deadline=None)
def test_the_objective_is_the_papers(problem, data):
    presence, labels, penalty = problem
    alpha = data.draw(arrays.arrays(float, len(labels), elements=st.floats(0, 50)))
    assert objective(presence, labels, alpha, penalty) == pytest.approx(
        objective_by_loops(presence, labels, alpha, penalty)
    )


@given(problem=problems())
@settings(max_examples=15, deadline=None)
def test_the_objective_never_rises_and_is_reported_correctly(problem):
    presence, labels, penalty = problem
    result = reweight(presence, labels, penalty=penalty)
    assert (result.alpha >= 0).all() and np.isfinite(result.alpha).all()
    assert result.objectives[0] == pytest.approx(objective_by_loops(presence, labels, np.zeros(len(labels)), penalty))
    assert all(later < earlier for earlier, later in zip(result.objectives, result.objectives[1:], strict=False))
    assert result.objectives[-1] == pytest.approx(objective_by_loops(presence, labels, result.alpha, penalty))
    assert (result.weights == 1 + result.alpha).all()


@pytest.mark.parametrize("tau", [0.3, 0.01])
def test_derivatives_equal_differences(tau):
    presence, labels = simulate(3, 12, 8, 3)
    coded = np.array([LABELS.index(label) for label in labels])
    problem = ReweightingProblem(presence[:, presence.any(axis=0)], coded, 0.2)
    alpha, step = np.random.default_rng(1).exponential(size=12), 1e-6
    value, gradient = problem.smooth(alpha, tau)
    for i in range(12):
        move = step * np.eye(12)[i]
        up, down = problem.smooth(alpha + move, tau), problem.smooth(alpha - move, tau)
        assert gradient[i] == pytest.approx((up[0] - down[0]) / (2 * step), abs=1e-7)
    assert 0 < value - problem.objective(alpha) < tau * (8 * np.log(3) + 0.2)


@pytest.mark.parametrize(
    ("penalty", "raised"),
    [(0.05, 1.0), (0.12, 1.0), (0.16, np.sqrt(2 / 0.16) - 3), (0.23, 0.0), (5.0, 0.0)],
)
def test_one_ngram_of_three_claims(penalty, raised):
    """Two claims against one: 2 / (3 + a) + lambda a up to the tie at a = 1; minimum at a = sqrt(2 / lambda) - 3."""
    result = reweight(np.ones((3, 1)), ["NO", "NO", "YES"], penalty=penalty)
    assert result.alpha == pytest.approx([0, 0, raised], abs=1e-5)
    assert result.objectives[-1] == pytest.approx(2 / (3 + raised) + penalty * raised, abs=1e-9)


def scipy_minimum(presence, labels, penalty, start):
    """A local minimum by SLSQP: t_j over every b_j^c in place of the maximum, so that kinks are constraints."""
    n, m = presence.shape
    own = np.array([[label == name for name in LABELS] for label in labels], dtype=float)

    def shares(alpha):
        weight = presence.T @ (own * (1 + alpha)[:, None])
        total = weight.sum(axis=1, keepdims=True)
        return weight / total, total

    def gaps(z):
        return (z[n:, None] - shares(z[:n])[0]).ravel()

    def slopes(z):
        share, total = shares(z[:n])
        result = np.zeros((m, len(LABELS), n + m))
        result[:, :, :n] = -presence.T[:, None, :] * (own.T[None] - share[:, :, None]) / total[:, :, None]
        result[np.arange(m), :, n + np.arange(m)] = 1
        return result.reshape(-1, n + m)

    def value(z):
        norm = np.linalg.norm(z[:n])
        slope = penalty * z[:n] / norm if norm else 0 * z[:n]
        return z[n:].sum() + penalty * norm, np.concatenate([slope, np.ones(m)])

    minimum = minimize(
        value,
        np.concatenate([start, shares(start)[0].max(axis=1)]),
        jac=True,
        method="SLSQP",
        bounds=[(0, None)] * n + [(0, 1)] * m,
        constraints=[{"type": "ineq", "fun": gaps, "jac": slopes}],
        options={"maxiter": 300, "ftol": 1e-11},
    )
    return objective_by_loops(presence, labels, np.maximum(minimum.x[:n], 0), penalty)


@pytest.mark.parametrize("seed", range(6))
def test_the_minimum_is_no_worse_than_the_best_of_ten_starts_of_scipy(seed):
    random = np.random.default_rng(seed)
    presence, labels = simulate(seed, int(random.integers(6, 18)), int(random.integers(4, 14)), 2 + seed % 2)
    presence = presence[:, presence.any(axis=0)]
    penalty = float(10 ** random.uniform(-2.5, -0.5))
    starts = [random.exponential(10.0 ** random.uniform(-1, 1), len(labels)) for _ in range(9)]
    best = min(scipy_minimum(presence, labels, penalty, start) for start in (np.zeros(len(labels)), *starts))
    assert reweight(presence, labels, penalty=penalty).objectives[-1] <= best + 1e-6


@pytest.mark.slow
def test_two_hundred_claims_against_subgradients():
    presence, labels = simulate(11, 200, 120, 3)
    coded = np.array([LABELS.index(label) for label in labels])
    own = np.eye(3)[coded]

    def value(alpha):
        weight = presence.T @ (own * (1 + alpha)[:, None])
        total = weight.sum(axis=1)
        share = weight / total[:, None]
        top = share.argmax(axis=1)
        norm = np.linalg.norm(alpha)
        slope = (presence @ ((np.eye(3)[top] - share.max(axis=1)[:, None]) / total[:, None]))[np.arange(200), coded]
        return share.max(axis=1).sum() + 0.02 * norm, slope + (0.02 * alpha / norm if norm else 0)

    random = np.random.default_rng(0)
    starts = [random.exponential(scale, 200) for scale in np.geomspace(0.1, 10, 10)]
    best = min(minimize(value, start, jac=True, method="L-BFGS-B", bounds=[(0, None)] * 200).fun for start in starts)
    assert reweight(presence, labels, penalty=0.02).objectives[-1] <= best + 1e-6


def test_many_claims_are_solved_nearly_as_well_as_few(monkeypatch):
    presence, labels = simulate(5, 150, 80, 3)
    exact = reweight(presence, labels, penalty=0.05)
    monkeypatch.setattr(solver, "FEW_CLAIMS", 10)
    quick = reweight(presence, labels, penalty=0.05)
    improvement = exact.objectives[0] - exact.objectives[-1]
    assert quick.objectives[0] - quick.objectives[-1] > 0.995 * improvement
    assert all(later < earlier for earlier, later in zip(quick.objectives, quick.objectives[1:], strict=False))


def test_the_same_seed_gives_the_same_bytes():
    presence, labels = simulate(6, 14, 10)
    first, second = (reweight(presence, labels, penalty=0.05, seed=3).alpha.tobytes() for _ in range(2))
    assert first == second


def test_uninformative_ngrams_change_no_weight():
    """n-grams of one label add 1 each, n-grams in no claim add 0; claims without other n-grams keep weight 1."""
    presence = np.array([[1, 0, 0, 1], [1, 0, 0, 0], [0, 0, 1, 0]], dtype=float)
    result = reweight(presence, ["NO", "NO", "YES"], penalty=0.1)
    assert (result.objectives, result.alpha.tolist()) == ([3.0], [0, 0, 0])
    none = reweight(np.zeros((2, 0)), ["NO", "YES"], penalty=0.1)
    assert (none.objectives, none.alpha.tolist()) == ([0.0], [0, 0])


def test_presence_is_counted_once_per_claim():
    presence = presence_of(["go go the go", "stay", "go stay"], n=1, drop=["the"], min_frequency=2).toarray()
    assert sorted(map(tuple, presence.T.tolist())) == [(0, 1, 1), (1, 0, 1)]
    assert presence_of(["a b", "c"], n=2, min_frequency=5).shape == (2, 0)


@pytest.mark.parametrize(
    ("presence", "labels", "penalty", "message"),
    [
        (np.ones((2, 1)), ["NO"], 1, "2 claims have 1 labels"),
        (2 * np.ones((1, 1)), ["NO"], 1, "expected only 0 and 1"),
        (np.ones((1, 1)), ["NO"], -1, "lambda is -1"),
        (np.ones((1, 1)), ["NO"], float("nan"), "lambda is nan"),
    ],
)
def test_invalid_arguments_are_wrong_usage(presence, labels, penalty, message):
    with pytest.raises(UsageError, match=message):
        reweight(presence, labels, penalty=penalty)


@pytest.mark.realdata
def test_cues_of_real_claims_become_weaker(realdata):
    lines = (realdata / "symmetric/fever_dev_claims.jsonl").read_text().splitlines()[:4000]
    claims = [json.loads(line) for line in lines]
    labels = [claim["label"] for claim in claims]
    presence = presence_of([claim["claim"] for claim in claims], drop=FEVER_FREQUENT)
    result = reweight(presence, labels, penalty=0.1)
    refuted = np.array([label == "REFUTES" for label in labels])
    holds = np.array(["did not" in claim["claim"].lower() for claim in claims])
    before = refuted[holds].mean()
    after = result.weights[holds & refuted].sum() / result.weights[holds].sum()
    assert before > 0.8 and after < 0.7
    assert objective(presence, labels, result.alpha, 0.1) == pytest.approx(result.objectives[-1])
