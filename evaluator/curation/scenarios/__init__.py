"""Fact-checking scenarios over a knowledge graph, by popularity, homogeneity and transparency (BUCKLE)."""

import evaluator.blas  # noqa: F401  - one thread: the same sums, to the last digit
