"""Pairs of a symmetric set: an original claim with its evidence, and a generated one of its group."""

import msgspec
import numpy as np

from evaluator.outcomes.table import Numbers, Outcomes


class PairCounts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Every original with every generated member of its group: three pairs in a whole group (Schuster et al. 2019,
    section 4: members 2-4 are made from 1).

    both: both right; drop: the original right, the generated one wrong; flip: the original wrong, the generated one
    right; neither: both wrong.
    """

    both: int
    drop: int
    flip: int
    neither: int


def pair_counts(outcomes: Outcomes) -> PairCounts:
    """outcomes: of a gold that declares origins. A group without an original, or with nothing else, makes no pair."""

    def of_groups(statistic: str) -> Numbers:
        sums: Numbers = np.zeros(outcomes.n_groups)
        np.add.at(sums, outcomes.groups, outcomes.statistics[statistic])
        return sums

    original, generated = of_groups("original"), of_groups("generated")
    right, also = of_groups("original_right"), of_groups("generated_right")
    wrong, fails = original - right, generated - also
    return PairCounts(
        both=int(right @ also), drop=int(right @ fails), flip=int(wrong @ also), neither=int(wrong @ fails)
    )
