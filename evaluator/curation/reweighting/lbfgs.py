"""Solver for many claims: L-BFGS-B on a sequence of less and less smoothed objectives (see `problem`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize

from evaluator.curation.reweighting.problem import Numbers, ReweightingProblem

TAUS = (0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4)
STEPS_EACH = 120


def solve(problem: ReweightingProblem, hear: Callable[[Numbers], None], step: Callable[[], None]) -> None:
    """Minimise the objective smoothed by each tau of TAUS in turn, starting from the minimum of the tau before.

    hear: called after each minimisation with alpha (the claims' weights less 1), and with alpha in which small values
    are 0. step: called after each iteration, to report progress.
    """
    alpha = np.zeros(problem.n_claims)
    for tau in TAUS:
        alpha = follow(problem, alpha, (tau,), step)
        hear(alpha)
        hear(np.where(alpha < tau / 10, 0.0, alpha))


def follow(
    problem: ReweightingProblem, alpha: Numbers, taus: Sequence[float], step: Callable[[], None] = lambda: None
) -> Numbers:
    """Return the alpha (the claims' weights less 1) reached by minimising the objective smoothed by each tau in turn.

    alpha: the start of the first minimisation; each further one starts where the one before ended. step: called after
    each iteration, to report progress.
    """
    for tau in taus:
        result = minimize(
            problem.smooth,
            alpha,
            args=(tau,),
            jac=True,
            method="L-BFGS-B",
            bounds=[(0, None)] * problem.n_claims,
            callback=lambda _: step(),
            options={"maxiter": STEPS_EACH, "maxcor": 10, "ftol": 1e-10, "gtol": 1e-9},
        )
        alpha = np.maximum(result.x, 0.0)
    return alpha
