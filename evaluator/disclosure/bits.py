"""How much shown scores can tell about hidden labels: counted in bits, and what follows from the count.

An answer that can come out in N ways tells at most log2 N bits, whoever chose the file and whatever else he knows. So
what k answers tell is at most the sum, also if each file was chosen after the answers before it: there are at most 2^I
sequences of answers, and the last file is one of 2^I files that were fixed beforehand. Two things follow for n labels
(or groups of labels) that are independent given everything else:

- The mean of n numbers between 0 and 1 that any of 2^I fixed files shows exceeds its expectation by more than
  sqrt((I ln 2 + ln(1 / DOUBT)) / (2 n)) with a probability of at most DOUBT (Hoeffding 1963 and the union bound; Dwork
  et al. 2015, "description length").
- The expected number of labels that somebody knows beyond those that he could guess without the answers is at most
  n sqrt(I ln 2 / (2 n)): the information is shared by the labels, and what a label's share lets him gain is bounded by
  Pinsker's inequality. The bound above is larger, so it holds for both.
"""

from __future__ import annotations

import math

DOUBT = 0.01
"""Probability with which more than `most_gained` may be reached by chance."""
USEFUL = 0.25
"""From this gain on a bound is no bound worth the name: half of what is to be known of balanced labels."""
_DECADES = 30
"""Powers of ten within which the values of unbounded measures are assumed to lie."""


def of_levels(n: float) -> float:
    """Return the bits of one answer that can come out in n ways; 0.0 for n of at most 1."""
    return math.log2(n) if n > 1 else 0.0


def of_choice(n: int, k: int) -> float:
    """Return the bits of the choice of k out of n answers, such as of those on a ladder that show scores."""
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return max(0.0, ways) / math.log(2)


def n_multiples(width: float, size: float) -> int:
    """Return the number of multiples of the step `size` in an interval of this width, and one more for no value."""
    return math.floor(width / size + 1e-9) + 2


def n_relative(n_steps: float) -> float:
    """Return the number of values of an unbounded measure, with `n_steps` steps in each e-fold of its magnitude."""
    return 2 * _DECADES * math.log(10) * n_steps + 2


def most_gained(bits: float, n: int) -> float:
    """Return the bound on what is gained by so many bits on n independent labels, as a share of 1; at most 1.0.

    See the module: by how much a shown score may exceed its true value, and the labels known beyond guessing as a share
    of n, with a doubt of DOUBT. 0.0 if nothing was shown; 1.0 without labels.
    """
    if bits <= 0:
        return 0.0
    if n < 1:
        return 1.0
    return min(1.0, math.sqrt((bits * math.log(2) - math.log(DOUBT)) / (2 * n)))


def n_bits(gained: float, n: int) -> float:
    """Return how many bits on n labels keep `most_gained` at `gained`; 0.0 if not even one answer does."""
    return max(0.0, (2 * n * gained**2 + math.log(DOUBT)) / math.log(2))
