"""Precise solver for a few hundred claims: Newton's method on ever less smooth objectives, from several starts.

The objectives, alpha (the weights of the claims less 1), lambda (the penalty) and tau (the smoothing) are those of
`problem`. At tau = 1e-9 the smooth objective is within 1e-6 of the true one, kinks included. A path follows the minimum
while tau falls. The path from alpha = 0 begins at a tau so large that most local minima are smoothed away, and its end
is rarely improved. For small lambda other paths sometimes end lower: those from random starts, and those from starts
near the best alpha so far. Their tau falls faster, so that they reach other minima.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from evaluator.curation.reweighting import lbfgs
from evaluator.curation.reweighting.problem import Numbers, ReweightingProblem
from evaluator.progress import Steps

MAX_CLAIMS = 300
_COARSE = (0.1, 0.03, 0.01, 3e-3)
_QUICK, _QUICK_LAST, _LAST = 1e-3, 1e-6, 1e-9
_STARTS, _FEW, _MANY_CLAIMS = 12, 6, 100
_SCALES = (0.1, 10.0)
_STEPS = 40
_HALVINGS = 30
_ZERO = 1e-8

Hear = Callable[[Numbers], None]


def solve(problem: ReweightingProblem, seed: int, hear: Hear) -> None:
    """Search for the alpha (the weights of the claims less 1) with the lowest objective, without smoothing.

    hear: called with every alpha that the search reaches; the caller keeps the best one. seed: for random starts.
    """
    random = np.random.default_rng([seed, problem.n_claims])
    start = lbfgs.follow(problem, np.zeros(problem.n_claims), _COARSE)
    best = first = _follow(problem, start, _COARSE[-1], 4.0, hear)
    starts = _STARTS if problem.n_claims <= _MANY_CLAIMS else _FEW
    steps = Steps(2 * starts)
    for scale in np.geomspace(*_SCALES, starts):
        for start in (random.exponential(scale, problem.n_claims), _near(best, random)):
            candidate = _quick(problem, start, float(random.choice(_COARSE[1:3])), problem.objective(best), hear)
            best = min(best, candidate, key=problem.objective)
            steps.add(1)
    if best is not first:
        best = _follow(problem, best, _QUICK / 10, 4.0, hear)
    _follow(problem, best, _QUICK / 10, 2.0, hear)


def _near(alpha: Numbers, random: np.random.Generator) -> Numbers:
    """Return a start near alpha: each value times a random factor, and for a fifth of the values plus a random term."""
    width = float(random.choice((0.1, 0.3, 1.0)))
    others = (random.random(len(alpha)) < 0.2) * random.exponential(width * (alpha.mean() + 0.1), len(alpha))
    near: Numbers = alpha * np.exp(width * random.normal(size=len(alpha))) + others
    return near


def _quick(problem: ReweightingProblem, alpha: Numbers, tau: float, best: float, hear: Hear) -> Numbers:
    """Follow a path on which the smoothing tau falls from `tau` in few steps, and return the alpha at its end.

    alpha: the weights of the claims less 1, at the start. best: the lowest value of the objective without smoothing so
    far; the path is abandoned if it cannot end below. hear: called with each alpha on the way.
    """
    alpha = _descend(problem, lbfgs.follow(problem, alpha, (tau,)), _QUICK)
    most_above = _QUICK * problem.n_ngrams * float(np.log(problem.n_classes))
    if problem.value(alpha, _QUICK) - most_above > best:
        return alpha
    return _follow(problem, alpha, _QUICK / 6, 6.0, hear, last=_QUICK_LAST)


def _follow(
    problem: ReweightingProblem, alpha: Numbers, tau: float, factor: float, hear: Hear, *, last: float = _LAST
) -> Numbers:
    """Follow the minimum of the objective while its smoothing tau is divided by `factor`, down to `last`.

    Returns the alpha (the weights of the claims less 1) at the last minimum. hear: called at each minimum with alpha,
    and with alpha in which small values are 0.
    """
    while True:
        alpha = _descend(problem, alpha, tau)
        hear(alpha)
        hear(np.where(alpha < max(tau, _ZERO), 0.0, alpha))
        if tau <= last:
            return alpha
        tau = max(tau / factor, last)


def _descend(problem: ReweightingProblem, alpha: Numbers, tau: float) -> Numbers:
    """Return the alpha (the weights of the claims less 1) that minimises the objective smoothed by tau.

    The method is projected Newton steps (Bertsekas 1982) from `alpha`.
    """
    for _ in range(_STEPS):
        value, gradient = problem.smooth(alpha, tau)
        bound = (alpha <= _ZERO) & (gradient > 0)
        alpha = np.where(bound, 0.0, alpha)
        free = np.flatnonzero(~bound)
        if not len(free):
            return alpha
        step = np.zeros_like(alpha)
        step[free] = _newton_step(problem.curvature(alpha, tau)[np.ix_(free, free)], gradient[free])
        moved, reached = _search(problem, alpha, step, gradient=gradient, value=value, tau=tau)
        if moved is None:
            return alpha
        alpha = moved
        if value - reached < max(1e-3 * tau, 1e-10):
            return alpha
    return alpha


def _newton_step(curvature: Numbers, gradient: Numbers) -> Numbers:
    """Return the Newton step. If the Hessian is not positive definite, the absolute values of its eigenvalues are used.

    curvature: the Hessian. gradient: the gradient of the objective.
    """
    try:
        step: Numbers = -linalg.cho_solve(linalg.cho_factor(curvature), gradient)
        return step
    except linalg.LinAlgError:
        values, vectors = linalg.eigh(curvature)
        values = np.maximum(np.abs(values), 1e-8 * max(1.0, float(np.abs(values).max())))
        step = -vectors @ ((vectors.T @ gradient) / values)
        return step


def _search(
    problem: ReweightingProblem, alpha: Numbers, step: Numbers, *, gradient: Numbers, value: float, tau: float
) -> tuple[Numbers | None, float]:
    """Search along a step by halving it: return (alpha, objective) after a step that decreases the objective enough.

    Enough is by Armijo's rule. Return (None, value) if no step decreases it enough. alpha: the start, with the gradient
    and value of the objective smoothed by tau.
    """
    size = 1.0
    for _ in range(_HALVINGS):
        moved = np.maximum(alpha + size * step, 0.0)
        reached = problem.value(moved, tau)
        if reached <= value + 1e-4 * float(gradient @ (moved - alpha)) and reached < value:
            return moved, reached
        size /= 2
    return None, value
