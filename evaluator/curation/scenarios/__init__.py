"""Scenarios of fact checking over a knowledge graph: how popular, how alike, how hard to tell apart (BUCKLE)."""

import evaluator.blas  # noqa: F401  - one thread: the same sums, to the last digit
