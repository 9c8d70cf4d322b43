"""Contrast pairs of a symmetric set: an original claim with its evidence and a generated one of its group."""

import msgspec
import numpy as np

from evaluator.outcomes.table import Numbers, Outcomes


class PairCounts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Counts of pairs, each original with each generated member of its group: three pairs in a complete group (Schuster
    et al. 2019, section 4: members 2-4 are generated from 1).

    both: both right; drop: the original right, the generated one wrong; flip: the original wrong, the generated one
    right; neither: both wrong.
    """

    both: int
    drop: int
    flip: int
    neither: int


def pair_counts(outcomes: Outcomes) -> PairCounts:
    """Return the counts for outcomes of a gold that declares origins.

    A group without an original, or with nothing else, yields no pair.
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
