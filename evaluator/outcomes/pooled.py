"""Two systems' outcomes in one table, so that weights select which system's outcomes of a group count, and how often.

The groups of system A come first, those of B after them. If all groups of A have the weight 1 and all of B the weight
0, a measure has the value of A. With mixed weights it has the value of a system that answers some groups as A and the
others as B. So the code that computes a measure can also compute permutations of two systems.
"""

import numpy as np

from evaluator.errors import UsageError
from evaluator.outcomes.table import Dimension, Outcomes, RaggedColumn


def pool(a: Outcomes, b: Outcomes) -> Outcomes:
    """Return a table of A's rows and then B's rows, with B's groups numbered after A's.

    Raises UsageError if the two tables belong to different golds.
    """
    check_alike(a, b)
    return Outcomes(
        task=a.task,
        task_version=a.task_version,
        n_units=a.n_units,
        group_names=(*a.group_names, *b.group_names),
        groups=np.concatenate([a.groups, b.groups + np.int32(a.n_groups)]),
        statistics={name: np.concatenate([column, b.statistics[name]]) for name, column in a.statistics.items()},
        dimensions={name: _stacked(dimension, b.dimensions[name]) for name, dimension in a.dimensions.items()},
        ragged={name: _appended(lengths, b.ragged[name], a.n_rows) for name, lengths in a.ragged.items()},
        facts=a.facts,
    )


def check_alike(a: Outcomes, b: Outcomes) -> None:
    """Raise UsageError if the tables differ in task, task version, or anything that depends on gold and options only.

    Gold and options determine the number of units, the groups, the table's `facts` (properties of the gold), the names
    of columns, and the slices.
    """
    if (a.task, a.task_version) != (b.task, b.task_version):
        raise UsageError(
            f"outcomes a are of {a.task} version {a.task_version}, outcomes b of {b.task} version {b.task_version}, "
            "expected the same task and version"
        )
    same = {
        "units": a.n_units == b.n_units,
        "groups": a.group_names == b.group_names,
        "facts": a.facts == b.facts,
        "columns": [*a.statistics] == [*b.statistics] and [*a.ragged] == [*b.ragged],
        "slices": _slices(a) == _slices(b),
    }
    for aspect, equal in same.items():
        if not equal:
            raise UsageError(f"the {aspect} of outcomes a and b differ, expected outcomes of the same gold and options")


def rows_are_paired(a: Outcomes, b: Outcomes) -> bool:
    """Return True if row i of both tables belongs to the same gold unit for every i.

    It is False if predictions have added rows of false positives to one of the tables.
    """
    if a.n_rows != b.n_rows or not np.array_equal(a.groups, b.groups):
        return False
    return all(np.array_equal(d.codes, b.dimensions[name].codes) for name, d in a.dimensions.items())


def _slices(table: Outcomes) -> list[object]:
    return [
        (name, dimension.declared, [(type(value), value) for value in dimension.values])
        for name, dimension in table.dimensions.items()
    ]


def _stacked(a: Dimension, b: Dimension) -> Dimension:
    return Dimension(np.concatenate([a.codes, b.codes]), a.values, a.declared, a.within_groups or b.within_groups)


def _appended(a: RaggedColumn, b: RaggedColumn, n_rows: int) -> RaggedColumn:
    return RaggedColumn(np.concatenate([a.values, b.values]), np.concatenate([a.rows, b.rows + n_rows]))
