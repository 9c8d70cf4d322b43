"""The exact way, for some hundred claims: Newton's method on ever less smooth objectives, from several starts.

At tau = 1e-9 the smooth objective is within 1e-6 of the true one, kinks included. The path from alpha = 0 begins at
a tau so large that most of the local minima are smoothed away, and is rarely beaten; where lambda is small, other
starts sometimes do.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from evaluator.curation.reweighting import descent
from evaluator.curation.reweighting.problem import Numbers, Problem

MAX_CLAIMS = 300
_COARSE = (0.1, 0.03, 0.01, 3e-3)
_LAST = 1e-9
_STARTS = 20
_REFINED = 4
_SCALES = (0.1, 10.0)
_SAME = 1e-5
_STEPS = 40
_HALVINGS = 30
_ZERO = 1e-8

Hear = Callable[[Numbers], None]


def solve(problem: Problem, seed: int, hear: Hear) -> None:
    """Tells `hear` every alpha on its ways; the best of them by the true objective is the answer."""
    first = descent.follow(problem, np.zeros(problem.n_claims), _COARSE)
    random = np.random.default_rng([seed, problem.n_claims])
    others = [
        descent.follow(problem, random.exponential(scale, problem.n_claims), _COARSE[2:])
        for scale in np.geomspace(*_SCALES, _STARTS)
    ]
    chosen: dict[float, Numbers] = {}
    for end in [first, *sorted(others, key=lambda alpha: problem.value(alpha, _COARSE[-1]))]:
        value = problem.value(end, _COARSE[-1])
        if len(chosen) < _REFINED and all(abs(value - other) > _SAME for other in chosen):
            chosen[value] = end
    finished = [_follow(problem, end, _COARSE[-1], 4.0, hear) for end in chosen.values()]
    _follow(problem, min(finished, key=problem.objective), _COARSE[-1] / 30, 2.0, hear)


def _follow(problem: Problem, alpha: Numbers, tau: float, factor: float, hear: Hear) -> Numbers:
    """From one smooth minimum to the next, down to the last; returns that one."""
    while True:
        alpha = _descend(problem, alpha, tau)
        hear(alpha)
        hear(np.where(alpha < max(tau, _ZERO), 0.0, alpha))
        if tau <= _LAST:
            return alpha
        tau = max(tau / factor, _LAST)


def _descend(problem: Problem, alpha: Numbers, tau: float) -> Numbers:
    """Projected Newton steps (Bertsekas 1982) to a minimum of the smooth objective."""
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
    """Where the curvature is not positive, along the absolute values of its eigenvalues."""
    try:
        step: Numbers = -linalg.cho_solve(linalg.cho_factor(curvature), gradient)
        return step
    except linalg.LinAlgError:
        values, vectors = linalg.eigh(curvature)
        values = np.maximum(np.abs(values), 1e-8 * max(1.0, float(np.abs(values).max())))
        step = -vectors @ ((vectors.T @ gradient) / values)
        return step


def _search(
    problem: Problem, alpha: Numbers, step: Numbers, *, gradient: Numbers, value: float, tau: float
) -> tuple[Numbers | None, float]:
    """The first of ever shorter steps that is worth its way; None: none is."""
    size = 1.0
    for _ in range(_HALVINGS):
        moved = np.maximum(alpha + size * step, 0.0)
        reached = problem.value(moved, tau)
        if reached <= value + 1e-4 * float(gradient @ (moved - alpha)) and reached < value:
            return moved, reached
        size /= 2
    return None, value
