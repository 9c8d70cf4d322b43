"""Outcomes restricted to some groups, as if the gold had no others.

A phase that scores only the public or only the private groups of a split uses such a subset. Measures and dimensions
stay those of the whole gold: a slice without a unit in the subset is listed without a value.
"""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from evaluator.errors import UsageError
from evaluator.jsonl.ids import Id
from evaluator.measures.base import LinearCombination
from evaluator.outcomes.table import Dimension, Outcomes, RaggedColumn
from evaluator.outcomes.weighted import Sample, View


def subset_of_groups(outcomes: Outcomes, groups: Collection[Id], *, units: LinearCombination) -> Outcomes:
    """Return the outcomes of the named groups, with the rows in their original order.

    groups: group names; names that the outcomes do not have are ignored. units: the sum of statistics that counts gold
    units, as `Measure.units` of the task's primary measure. Raises UsageError if the outcomes have none of the groups.
    """
    # 1, 1.0, True and "1" are distinct, as everywhere: a group is a string or an integer.
    names = {(type(name), name) for name in groups}
    inside = np.array([(type(name), name) in names for name in outcomes.group_names], dtype=np.bool_)
    if not inside.any():
        raise UsageError("none of the groups to score are in this gold, expected at least one")
    group_index = np.cumsum(inside, dtype=np.int32) - 1
    rows = inside[outcomes.groups]
    row_index = np.cumsum(rows) - 1
    subset = replace(
        outcomes,
        group_names=tuple(
            name for name, is_inside in zip(outcomes.group_names, inside.tolist(), strict=True) if is_inside
        ),
        groups=group_index[outcomes.groups[rows]],
        statistics={name: column[rows] for name, column in outcomes.statistics.items()},
        dimensions={
            name: Dimension(dimension.codes[rows], dimension.values, dimension.declared, dimension.within_groups)
            for name, dimension in outcomes.dimensions.items()
        },
        ragged={
            name: RaggedColumn(lengths.values[rows[lengths.rows]], row_index[lengths.rows[rows[lengths.rows]]])
            for name, lengths in outcomes.ragged.items()
        },
    )
    return replace(subset, n_units=n_units(subset, units))


def n_units(outcomes: Outcomes, units: LinearCombination) -> int:
    """Return the number of gold units in the outcomes. units: the sum of statistics that counts them, as
    `Measure.units`.
    """
    return int(units.of(Sample(View.whole(outcomes), np.ones((outcomes.n_groups, 1))))[0])


def groups_with_units(view: View, units: LinearCombination) -> int:
    """Return the number of groups that have gold units in a view; rows of false positives do not count.

    units: the sum of statistics that counts gold units, as `Measure.units`.
    """
    indices = {name: index for index, name in enumerate(view.outcomes.statistics)}
    sums = sum(factor * view.group_sums[indices[name]] for name, factor in units.terms.items())
    return int(np.count_nonzero(np.asarray(sums) > 0))
