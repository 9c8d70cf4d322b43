"""Solver: L-BFGS-B on a sequence of less and less smoothed objectives (see `problem`).

A path follows the minimum while the smoothing tau falls. The path from alpha = 0 begins at a tau so large that most
local minima are smoothed away, and its end is rarely improved. Few claims are solved precisely: the path goes on until
the smooth objective is within 1e-6 of the true one, kinks included, and others follow, from random starts and from
starts near the best alpha so far, which sometimes end lower if the penalty is small.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize

from evaluator.curation.reweighting.problem import Numbers, ReweightingProblem
from evaluator.progress import Steps

FEW_CLAIMS = 300
"""The largest number of claims that are solved precisely."""
_TAUS = (0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)
_FINE_TAUS = (*_TAUS, 3e-5, 1e-5, 3e-6, 1e-6, 1e-7, 1e-8, 1e-9)
_ITERATIONS = 120
_ROUGH = {"maxiter": _ITERATIONS, "maxcor": 10, "ftol": 1e-10, "gtol": 1e-9}
_PRECISE = {"maxiter": 500, "maxcor": 20, "ftol": 1e-15, "gtol": 1e-12}
_STARTS, _FEW, _MANY_CLAIMS = 12, 6, 100
_SCALES = (0.1, 10.0)
_JUDGED_AT = 1e-3  # the tau at which a path is abandoned if it cannot end below the best one
_ZERO = 1e-8

Hear = Callable[[Numbers], None]


def solve(problem: ReweightingProblem, seed: int, hear: Hear) -> None:
    """Search for the alpha (the claims' weights less 1) with the lowest objective, without smoothing.

    hear: called with every alpha that the search reaches; the caller keeps the best one. seed: for random starts.
    """
    start = np.zeros(problem.n_claims)
    if problem.n_claims > FEW_CLAIMS:
        steps = Steps(len(_TAUS) * _ITERATIONS)
        _follow(problem, start, _TAUS, hear, step=lambda: steps.add(1))
        return
    random = np.random.default_rng([seed, problem.n_claims])
    best = _follow(problem, start, _FINE_TAUS, hear)
    starts = _STARTS if problem.n_claims <= _MANY_CLAIMS else _FEW
    steps = Steps(2 * starts)
    for scale in np.geomspace(*_SCALES, starts):
        for start in (random.exponential(scale, problem.n_claims), _near(best, random)):
            candidate = _follow(problem, start, _FINE_TAUS[2:], hear, best=problem.objective(best))
            best = min(best, candidate, key=problem.objective)
            steps.add(1)


def _near(alpha: Numbers, random: np.random.Generator) -> Numbers:
    """Return a start near alpha: each value times a random factor, and for a fifth of the values plus a random term."""
    width = float(random.choice((0.1, 0.3, 1.0)))
    others = (random.random(len(alpha)) < 0.2) * random.exponential(width * (alpha.mean() + 0.1), len(alpha))
    near: Numbers = alpha * np.exp(width * random.normal(size=len(alpha))) + others
    return near


def _follow(
    problem: ReweightingProblem,
    alpha: Numbers,
    taus: Sequence[float],
    hear: Hear,
    *,
    best: float = np.inf,
    step: Callable[[], None] = lambda: None,
) -> Numbers:
    """Minimise the objective smoothed by each tau in turn, each from the minimum before, and return the last minimum.

    alpha: the start. hear: called after each minimisation with alpha (the claims' weights less 1), and with alpha in
    which small values are 0. best: the lowest objective so far; a path that cannot end below it is abandoned. step:
    called after each iteration, to report progress.
    """
    is_precise = problem.n_claims <= FEW_CLAIMS
    for tau in taus:
        result = minimize(
            problem.smooth,
            alpha,
            args=(tau,),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None)] * problem.n_claims,
            callback=lambda _: step(),
            options=_PRECISE if is_precise else _ROUGH,
        )
        alpha = np.maximum(result.x, 0.0)
        hear(alpha)
        hear(np.where(alpha < (max(tau, _ZERO) if is_precise else tau / 10), 0.0, alpha))
        if tau == _JUDGED_AT and result.fun - tau * problem.n_ngrams * np.log(problem.n_classes) > best:
            break
    return alpha
