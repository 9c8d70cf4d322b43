"""Hidden test sets for the attacks of `evaluator.disclosure.attacks`."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluator.disclosure import attacks
from evaluator.disclosure.attacks import Learnt
from evaluator.disclosure.attacks.target import LABELLING, Style, Target, balanced
from evaluator.disclosure.policy import Kind, Policy
from evaluator.outcomes.table import Dimension

EXACT = Policy(Kind.FULL, exact=True)
ROUNDED = Policy(Kind.FULL)


def a_target(policy: Policy, n: int, size: int = 0, *, seed: int = 1, style: Style = LABELLING, **more: Any) -> Target:
    """Return a test set of n labels, each its own group, in slices of `size` labels; 0: no slices.

    In rankings, half of the labels of each slice are 1. more: further fields of the target.
    """
    random = np.random.default_rng([seed, n])
    size = size or n
    labels = balanced(n, random)
    if style.needs_balance:
        labels = np.concatenate([balanced(min(size, n - begin), random) for begin in range(0, n, size)])
    codes = (np.arange(n) // size).astype(np.int32)
    slices = {} if size == n else {"part": Dimension(codes, tuple(range(codes[-1] + 1)), True, False)}
    return Target(labels, np.arange(n, dtype=np.int32), slices, policy, style, **more)


def attacked(attack: str, target: Target, k: int, *, seed: int = 1) -> Learnt:
    """Run an attack with up to k answers, and check that it learns no more than the stated bound.

    The bound is for measures between 0 and 1; the excess of others is a share of their range.
    """
    learnt = attacks.run(attack, target, k, np.random.default_rng([seed, k]))
    assert 1 <= learnt.answers <= k
    primary, bound = target.style.measure(target.style.primary), target.bound()
    excess = learnt.excess / (primary.high - primary.low)
    assert max(learnt.known, excess) <= bound, f"{learnt}: the stated bound is {bound:.3f}"
    return learnt
