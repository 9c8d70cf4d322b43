"""Outcomes: the per-unit table that a scorer makes, and the source of every published number.

One row a gold unit (a claim, a document x property cell), in columns: statistics, dimensions (slice values) and the
row's group. Rows that hold only false positives may be added by a scorer; the groups come from gold alone, and a
group without rows is still a group that a resample may draw.
"""

import json
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
    """One value a row: `values[codes[row]]`; a code of -1 is a row without a value.

    `declared`: gold's `slices` name it. `within_groups`: some group's rows differ in it, so measures about groups
    have no value on its slices.
    """

    codes: Codes
    values: tuple[SliceValue, ...]
    declared: bool
    within_groups: bool

    @classmethod
    def build(cls, column: list[SliceValue | None], groups: Codes, *, declared: bool) -> "Dimension":
        """column: a value a row, None for rows without one. Values are told apart as JSON writes them: 1, 1.0, true
        and "1" are four. They are ordered: booleans, numbers, strings."""
        places: dict[tuple[type, SliceValue] | None, int] = {}
        keys = [None if value is None else (type(value), value) for value in column]
        codes = np.array([places.setdefault(key, len(places)) for key in keys], dtype=np.int32)
        found = list(places)
        ranked = sorted(
            (code for code, key in enumerate(found) if key is not None), key=lambda code: _rank(found[code])
        )
        new_code = np.full(len(found), -1, dtype=np.int32)
        new_code[ranked] = np.arange(len(ranked), dtype=np.int32)
        if len(codes):
            codes = new_code[codes]
        values = tuple(key[1] for code in ranked if (key := found[code]) is not None)
        return cls(codes, values, declared, cuts_groups(codes, groups))


def _rank(key: tuple[type, SliceValue] | None) -> tuple[int, float, str]:
    value = key[1] if key is not None else ""
    if isinstance(value, bool):
        return (0, float(value), "")
    if isinstance(value, int | float):
        return (1, float(value), repr(value))
    return (2, 0.0, value)


def cuts_groups(codes: Codes, groups: Codes) -> bool:
    """Whether some group's rows differ in their code."""
    if not len(codes):
        return False
    order = np.argsort(groups, kind="stable")
    same_group = groups[order][1:] == groups[order][:-1]
    differs = codes[order][1:] != codes[order][:-1]
    return bool(np.any(same_group & differs))


@dataclass(frozen=True)
class Lengths:
    """Several numbers a row (ragged): `values[i]` belongs to row `rows[i]`."""

    values: Numbers
    rows: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Outcomes:
    """The table. `statistics`: one float64 a row; `ragged`: any number a row; `groups`: each row's group as an index
    into `group_names`; `n_units`: gold units in it."""

    task: str
    task_version: int
    n_units: int
    group_names: tuple[str | int, ...]
    groups: Codes
    statistics: Mapping[str, Numbers]
    dimensions: Mapping[str, Dimension]
    ragged: Mapping[str, Lengths] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What decides which measures exist and which warnings a board shows: plain JSON values."""

    def __post_init__(self) -> None:
        n = self.n_rows
        for name, column in self.statistics.items():
            if column.shape != (n,) or not np.all(np.isfinite(column)):
                raise SandboxError(f"outcomes: column {name} is not {n} finite numbers")
        for name, dimension in self.dimensions.items():
            codes = dimension.codes
            if codes.shape != (n,) or np.any(codes < -1) or np.any(codes >= len(dimension.values)):
                raise SandboxError(f"outcomes: dimension {name} does not fit {n} rows")
        if np.any(self.groups < 0) or np.any(self.groups >= self.n_groups):
            raise SandboxError("outcomes: a row is in no group")
        for name, lengths in self.ragged.items():
            rows = lengths.rows
            if rows.shape != lengths.values.shape or np.any(rows < 0) or np.any(rows >= n):
                raise SandboxError(f"outcomes: column {name} does not fit {n} rows")

    @property
    def n_rows(self) -> int:
        return len(self.groups)

    @property
    def n_groups(self) -> int:
        return len(self.group_names)


def slice_text(value: SliceValue) -> str:
    """The value as JSON writes it, strings without their quotes: for people."""
    return value if isinstance(value, str) else json.dumps(value)
