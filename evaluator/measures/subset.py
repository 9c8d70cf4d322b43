"""A part of outcomes: the rows of some groups, as if gold had held no others.

What a phase on one half of a split scores. Measures and dimensions stay those of the whole, so that a slice without a
unit in the part has no value there, and is there.
"""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from evaluator.errors import UsageError
from evaluator.jsonl.ids import Id
from evaluator.measures.base import Sum
from evaluator.outcomes.table import Dimension, Lengths, Outcomes
from evaluator.outcomes.weighted import Sample, View


def part_of(outcomes: Outcomes, groups: Collection[Id], *, units: Sum) -> Outcomes:
    """The rows of `groups`, in their order. groups: names; those that the outcomes do not have are passed over.

    units: the sum of statistics that counts gold units, as the task's primary measure has it. Raises UsageError where
    no group is left.
    """
    # 1, 1.0, True and "1" are told apart as everywhere: a group is a string or an integer.
    wanted = {(type(name), name) for name in groups}
    inside = np.array([(type(name), name) in wanted for name in outcomes.group_names], dtype=np.bool_)
    if not inside.any():
        raise UsageError("the half has no group of this gold, expected at least one")
    place = np.cumsum(inside, dtype=np.int32) - 1
    rows = inside[outcomes.groups]
    place_of_row = np.cumsum(rows) - 1
    kept = replace(
        outcomes,
        group_names=tuple(name for name, stays in zip(outcomes.group_names, inside.tolist(), strict=True) if stays),
        groups=place[outcomes.groups[rows]],
        statistics={name: column[rows] for name, column in outcomes.statistics.items()},
        dimensions={
            name: Dimension(one.codes[rows], one.values, one.declared, one.within_groups)
            for name, one in outcomes.dimensions.items()
        },
        ragged={
            name: Lengths(one.values[rows[one.rows]], place_of_row[one.rows[rows[one.rows]]])
            for name, one in outcomes.ragged.items()
        },
    )
    return replace(kept, n_units=n_units(kept, units))


def n_units(outcomes: Outcomes, units: Sum) -> int:
    """Gold units in a table."""
    return int(units.of(Sample(View.whole(outcomes), np.ones((outcomes.n_groups, 1))))[0])


def groups_with_units(view: View, units: Sum) -> int:
    """How many groups have gold units in a view: a submission's own rows add none."""
    places = {name: place for place, name in enumerate(view.outcomes.statistics)}
    sums = sum(factor * view.group_sums[places[name]] for name, factor in units.terms.items())
    return int(np.count_nonzero(np.asarray(sums) > 0))
