"""Outcomes: the per-unit table that a scorer produces, and the source of every published number.

There is one row per gold unit (a claim, or the facts of one property in one document). Its columns are statistics,
dimensions (values that define slices) and the row's group (cluster). A scorer may add rows that hold only false
positives. The groups come from gold alone; a group without rows is resampled too.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from evaluator.errors import SandboxError

Numbers = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int32]
SliceValue = str | int | float | bool


@dataclass(frozen=True)
class Dimension:
    """A property of rows that cuts them into slices. A row's value is `values[codes[row]]`; code -1: no value.

    `declared`: True if the gold file has it in `slices`, False if the task adds it. `within_groups`: True if rows of
    some group differ in it; measures that are computed from whole groups then do not exist on its slices.
    """

    codes: Codes
    values: tuple[SliceValue, ...]
    declared: bool
    within_groups: bool

    @classmethod
    def build(cls, column: list[SliceValue | None], groups: Codes, *, declared: bool) -> "Dimension":
        """Build a dimension from a column with one value per row, None for rows without one.

        groups: the index of each row's group. declared: True if the gold file has the dimension in `slices`. Values are
        distinct as in JSON: 1, 1.0, true and "1" are four values. They are ordered: booleans, numbers, strings.
        """
        indices: dict[Any, int] = {}
        keys: list[Any] = column
        of_one_type = len(set(map(type, column)) - {type(None)}) <= 1
        if not of_one_type:
            keys = [None if value is None else (type(value), value) for value in column]
        codes = np.array([indices.setdefault(key, len(indices)) for key in keys], dtype=np.int32)
        distinct: list[tuple[type, SliceValue] | None] = list(indices)
        if of_one_type:
            distinct = [None if value is None else (type(value), value) for value in indices]
        ranked = sorted(
            (code for code, key in enumerate(distinct) if key is not None), key=lambda code: _rank(distinct[code])
        )
        new_code = np.full(len(distinct), -1, dtype=np.int32)
        new_code[ranked] = np.arange(len(ranked), dtype=np.int32)
        if len(codes):
            codes = new_code[codes]
        values = tuple(key[1] for code in ranked if (key := distinct[code]) is not None)
        return cls(codes, values, declared, cuts_groups(codes, groups))


def _rank(key: tuple[type, SliceValue] | None) -> tuple[int, float, str]:
    value = key[1] if key is not None else ""
    if isinstance(value, bool):
        return (0, float(value), "")
    if isinstance(value, int | float):
        return (1, float(value), repr(value))
    return (2, 0.0, value)


def cuts_groups(codes: Codes, groups: Codes) -> bool:
    """Return True if some group has rows with different codes. codes, groups: one number per row."""
    if not len(codes):
        return False
    order = np.argsort(groups, kind="stable")
    same_group = groups[order][1:] == groups[order][:-1]
    differs = codes[order][1:] != codes[order][:-1]
    return bool(np.any(same_group & differs))


@dataclass(frozen=True)
class RaggedColumn:
    """A ragged column, with any number of values per row: `values[i]` belongs to row `rows[i]`."""

    values: Numbers
    rows: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Outcomes:
    """The outcomes of one system: a table with one row per gold unit, and possibly rows of false positives.

    `statistics`: columns with one float64 per row; `ragged`: columns with any number of values per row; `groups`: each
    row's group as an index into `group_names`; `n_units`: the number of gold units.
    """

    task: str
    task_version: int
    n_units: int
    group_names: tuple[str | int, ...]
    groups: Codes
    statistics: Mapping[str, Numbers]
    dimensions: Mapping[str, Dimension]
    ragged: Mapping[str, RaggedColumn] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Plain JSON values that determine which measures exist and which warnings a board shows."""

    def __post_init__(self) -> None:
        n = self.n_rows
        for name, column in self.statistics.items():
            if column.shape != (n,) or not np.all(np.isfinite(column)):
                raise SandboxError(f"outcomes: column {name} is invalid, expected {n} finite numbers")
        for name, dimension in self.dimensions.items():
            codes = dimension.codes
            if codes.shape != (n,) or np.any(codes < -1) or np.any(codes >= len(dimension.values)):
                raise SandboxError(f"outcomes: dimension {name} is invalid, expected {n} indexes of its values, or -1")
        if np.any(self.groups < 0) or np.any(self.groups >= self.n_groups):
            raise SandboxError(f"outcomes: a row has an invalid group, expected an index below {self.n_groups}")
        for name, lengths in self.ragged.items():
            rows = lengths.rows
            if rows.shape != lengths.values.shape or np.any(rows < 0) or np.any(rows >= n):
                raise SandboxError(f"outcomes: column {name} is invalid, expected for each value a row index below {n}")

    @property
    def n_rows(self) -> int:
        return len(self.groups)

    @property
    def n_groups(self) -> int:
        return len(self.group_names)
