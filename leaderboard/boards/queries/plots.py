"""What releases told to be drawn, as pictures and the API read it. From drawings alone, never from outcomes."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from leaderboard.boards.disclosure.policies import reveals_drawings
from leaderboard.boards.queries import WHOLE, Board, Row, Slice, slice_of
from leaderboard.models import Drawing


@dataclass(frozen=True)
class Curve:
    """A ROC curve on a lattice of as many steps across as up: heights[k] steps up at k steps across."""

    heights: Sequence[int]

    @property
    def steps(self) -> int:
        return len(self.heights) - 1

    @property
    def points(self) -> list[tuple[float, float]]:
        """(false positive rate, true positive rate), from the left; it begins in the lower left corner."""
        found = [(place / self.steps, height / self.steps) for place, height in enumerate(self.heights)]
        return found if self.heights[0] == 0 else [(0.0, 0.0), *found]

    def at(self, across: float) -> float:
        """The true positive rate at a false positive rate, between the lattice's points on the line that joins them."""
        place = min(int(across * self.steps + 1e-9), self.steps - 1)
        low, high = self.heights[place], self.heights[place + 1]
        return (low + (high - low) * (across * self.steps - place)) / self.steps


@dataclass(frozen=True)
class Column:
    """Units from part `start` up to `end` of the order of a metric's scores; counts: by part of people's order."""

    start: int
    end: int
    counts: Sequence[int]


@dataclass(frozen=True)
class Grid:
    """A metric against people, both by rank, in as many parts across as up."""

    columns: Sequence[Column]

    @property
    def n_parts(self) -> int:
        return self.columns[-1].end

    @property
    def n(self) -> int:
        return sum(sum(column.counts) for column in self.columns)


@dataclass(frozen=True)
class Pairs:
    """Original claims with generated ones of their groups; evaluator.plots.contrast_pairs says what is counted."""

    both: int
    drop: int
    flip: int
    neither: int

    @property
    def n(self) -> int:
        return self.both + self.drop + self.flip + self.neither


@dataclass(frozen=True)
class Drawn:
    """What was told of one run."""

    curves: Mapping[Slice, Curve]
    grids: Mapping[Slice, Grid]
    pairs: Pairs | None


def tells_drawings(board: Board) -> bool:
    """Whether the board's phase tells any, as its policy stands: a policy that changes takes back what was told."""
    return board.leaderboard is not None and reveals_drawings(board.phase)


def drawn_of(board: Board, rows: Iterable[Row]) -> dict[UUID, Drawn]:
    """By run what was told of these rows; of those that came before drawings were kept there is nothing."""
    if not tells_drawings(board):
        return {}
    runs = [row.run_id for row in rows if row.run_id is not None]
    found = Drawing.objects.filter(release__run__in=runs).values_list("release__run", "content")
    return {run: drawn(content) for run, content in found}


def with_drawings(board: Board) -> Collection[UUID]:
    """The runs on a board of which something was told."""
    if not tells_drawings(board):
        return ()
    runs = [row.run_id for row in board.rows if row.run_id is not None]
    return set(Drawing.objects.filter(release__run__in=runs).values_list("release__run", flat=True))


def drawn(content: Mapping[str, Any]) -> Drawn:
    """A stored drawing."""
    return Drawn(
        curves={slice_of(one["slice"]): Curve(one["heights"]) for one in content.get("curves", [])},
        grids={
            slice_of(one["slice"]): Grid([Column(**column) for column in one["columns"]])
            for one in content.get("grids", [])
        },
        pairs=Pairs(**content["pairs"]) if "pairs" in content else None,
    )


def slice_named(text: str | None) -> Slice:
    """The one-way slice that `["dimension", "value"]` names; the whole for any other text."""
    try:
        name, value = json.loads(text or "")
    except (ValueError, TypeError, RecursionError):
        return WHOLE
    return ((name, value),) if isinstance(name, str) and isinstance(value, str) else WHOLE


def known(board: Board, slice_: Slice) -> Slice:
    """The slice where the board's gold has it, else the whole."""
    return slice_ if all(value in board.dimensions.get(name, ()) for name, value in slice_) else WHOLE


def slice_key(slice_: Slice) -> str:
    """What names a one-way slice in an address; empty: the whole."""
    return json.dumps(slice_[0], ensure_ascii=False) if slice_ else ""
