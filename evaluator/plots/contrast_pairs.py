"""Contrast pairs of a symmetric set: an original claim with its evidence, and a generated one of the same group."""

import msgspec
import numpy as np

from evaluator.outcomes.table import Numbers, Outcomes


class PairCounts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Numbers of contrast pairs by which member the system has right.

    Each original is paired with each generated member of its group: three pairs in a complete group of four (Schuster
    et al. 2019, section 4). both: both right; drop: the original right, the generated one wrong; flip: the original
    wrong, the generated one right; neither: both wrong.
    """

    both: int
    drop: int
    flip: int
    neither: int


def pair_counts(outcomes: Outcomes) -> PairCounts:
    """Return the counts of contrast pairs.

    outcomes: with `facts["origin"]` true, that is, of gold that declares for each unit whether it is original or
    generated; other outcomes lack the columns (KeyError). A group without an original or without a generated unit has
    no pair.
    """

    def of_groups(statistic: str) -> Numbers:
        sums: Numbers = np.zeros(outcomes.n_groups)
        np.add.at(sums, outcomes.groups, outcomes.statistics[statistic])
        return sums

    original, generated = of_groups("original"), of_groups("generated")
    original_right, generated_right = of_groups("original_right"), of_groups("generated_right")
    original_wrong, generated_wrong = original - original_right, generated - generated_right
    return PairCounts(
        both=int(original_right @ generated_right),
        drop=int(original_right @ generated_wrong),
        flip=int(original_wrong @ generated_right),
        neither=int(original_wrong @ generated_wrong),
    )
