"""Average ranks under the weights of resamples: what Spearman's correlation rests on (Kendall & Gibbons 1990)."""

import numpy as np

from evaluator.outcomes import Numbers
from evaluator.ties import Ties


def centred_ranks(ties: Ties, weights: Numbers) -> Numbers:
    """resamples x rows: each row's average rank among the drawn rows, less the mean of all ranks.

    weights: resamples x rows, in the order of the column. A row drawn twice is two equal rows. Whole numbers and
    halves, so exact; all 0 where the drawn rows are all equal.
    """
    drawn = ties.totals(np.take(weights, ties.order, axis=1))
    up_to = np.cumsum(drawn, axis=1)
    middle = up_to - drawn / 2  # a tie of n rows above m others: m + (n + 1) / 2, from 1
    middle -= up_to[:, -1:] / 2
    return np.take(middle, ties.codes, axis=1)
