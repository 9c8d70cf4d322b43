"""What a board's table is made of: cells by measure and slice, rows by system, and their order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple
from uuid import UUID

from leaderboard.boards.disclosure.costs import Cost
from leaderboard.models import System

Slice = tuple[tuple[str, str], ...]
"""(dimension, value as shown) pairs in the order of their names; the whole is ()."""

WHOLE: Slice = ()


class Cell(NamedTuple):
    """One revealed score. value None: the measure has none there. low, high None: no interval."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0


NO_CELL = Cell(None)

Key = tuple[str, Slice]
"""(measure, slice)."""


Cells = dict[Key, Cell]


@dataclass(frozen=True)
class Row:
    """One system of a board. rank None: it does not compete, or has no value.

    rank_low, rank_high: the ranks that the differences between systems leave it, None until they are computed.
    received_at: when its submission came; released_at: when these scores were published, which a rescoring does anew.
    cost: of its container, None where none is told; `no_cost` says why. disqualified: the organisers' public reason.
    anonymous_until: the public is told no name until then; `system` and `team` are what this reader is told,
    is_hidden: which is not the name.
    track: what its submissions declare, empty where the phase has no tracks; track_rank: its rank among those that
    declare the same, None without a rank.
    """

    rank: int | None
    tied: bool
    system: str
    team: str
    kind: str
    description: str
    paper_url: str
    code_url: str
    system_id: int
    submission_id: UUID
    received_at: datetime
    released_at: datetime
    warnings: Sequence[str]
    cells: Mapping[Key, Cell]
    run_id: UUID | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    cost: Cost | None = None
    no_cost: str = ""
    disqualified: str = ""
    anonymous_until: datetime | None = None
    is_hidden: bool = False
    track: str = ""
    track_title: str = ""
    track_rank: int | None = None
    track_tied: bool = False

    @property
    def competes(self) -> bool:
        return self.kind == System.Kind.PARTICIPANT and not self.disqualified

    def cell(self, measure: str, slice_: Slice = WHOLE) -> Cell:
        """What was revealed, or a cell without a value."""
        return self.cells.get((measure, slice_), NO_CELL)

    def spent(self, kind: str) -> float | None:
        """One of costs.KINDS."""
        return None if self.cost is None else self.cost.as_dict()[kind]


def slice_of(named: Mapping[str, object]) -> Slice:
    """A stored slice as a key."""
    return tuple(sorted((name, shown(value)) for name, value in named.items()))


def shown(value: object) -> str:
    """A slice's value on a board: strings stand for themselves, other values are shown as JSON writes them."""
    return value if isinstance(value, str) else json.dumps(value)


def in_order(rows: Iterable[Row], value: Callable[[Row], float | str | None], *, descending: bool) -> list[Row]:
    """Rows by a value, stable; in either direction those without one come last, and after them the disqualified."""
    rows = list(rows)
    known = [row for row in rows if value(row) is not None]
    known.sort(key=value, reverse=descending)  # type: ignore[arg-type]
    return sorted(known + [row for row in rows if value(row) is None], key=lambda row: bool(row.disqualified))


def label(key: Key) -> str:
    """A column's name: `link_f1`, or `link_f1[property=CEO]`."""
    measure, slice_ = key
    return measure + (f"[{','.join(f'{name}={value}' for name, value in slice_)}]" if slice_ else "")


def key_of(slice_: Slice) -> str:
    """A slice as it is stored: canonical JSON; empty for the whole."""
    return _json(dict(slice_)) if slice_ else ""


def dimensions_of(slice_: Slice) -> str:
    """The dimensions that a slice names as they are stored: a JSON list; empty for the whole."""
    return _json([name for name, _ in slice_]) if slice_ else ""


@lru_cache(maxsize=10_000)
def slice_named(key: str) -> Slice:
    """What `key_of` wrote."""
    return tuple(sorted(json.loads(key).items())) if key else WHOLE


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def cells_on(slice_: Slice, stored: Mapping[str, Sequence[Any]]) -> Cells:
    """The cells of one stored slice: {measure: [value, low, high, n]}."""
    return {(measure, slice_): Cell(*numbers) for measure, numbers in stored.items()}
