"""Fact-checking scenarios over a knowledge graph: test sets of claims from easy to hard (BUCKLE).

Scenarios differ in popularity (of the entities), homogeneity (the share of true claims from the largest clusters of
similar facts) and transparency (the share of false claims that are easy, unrelated pairs).
"""

import evaluator.blas  # noqa: F401  - one thread: the same sums, to the last digit
