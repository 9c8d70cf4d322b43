"""Stacked bars of a symmetric set's pairs: both right, drop, flip, both wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.queries import Row
from leaderboard.boards.queries.plots import Pairs

LINE = 46
"""Pixels of a system's line: on a phone its name stands above the bar."""
THICK = 22
LONGEST = 34
KINDS = (
    ("both", "both right", "the original and the generated claim"),
    ("drop", "drop", "the original right, the generated one wrong"),
    ("flip", "flip", "the original wrong, the generated one right"),
    ("neither", "both wrong", "neither"),
)
"""(name, title, meaning), in the order of the bar."""
FLOOR = 1 / 3
"""As many pairs both right has a system at most that reads the claim alone: members 1 and 2 share a claim and differ in
their label, and so do 3 and 4, so with 1 right 2 is wrong, and one of 3 and 4 is (Schuster et al. 2019)."""
ROOM = 0.07
"""The share from which a number has room in its piece."""


@dataclass(frozen=True)
class Piece:
    """A part of a bar: places are SVG lengths."""

    kind: str
    title: str
    n: int
    share: float
    x: str
    width: str
    middle: str

    @property
    def has_room(self) -> bool:
        return self.share >= ROOM


@dataclass(frozen=True)
class Bar:
    row: Row
    pairs: Pairs
    pieces: Sequence[Piece]
    y: int

    @property
    def label(self) -> str:
        return self.row.system if len(self.row.system) <= LONGEST else f"{self.row.system[: LONGEST - 1]}…"

    @property
    def top(self) -> int:
        return self.y - THICK // 2


@dataclass(frozen=True)
class PairsChart:
    bars: Sequence[Bar]
    height: int
    has_floor: bool = False
    thick: int = THICK

    @property
    def floor(self) -> str:
        """Where both right ends at most for a system that reads the claim alone."""
        return _length(FLOOR)

    @property
    def ticks(self) -> list[tuple[str, str]]:
        return [(f"{share}%", f"{share}") for share in (0, 25, 50, 75, 100)]


def pairs_chart(found: Sequence[tuple[Row, Pairs]], *, are_whole: bool = False) -> PairsChart | None:
    """A bar a system, in their order; None where no system has a pair. are_whole: every group has its
    four members."""
    bars = [
        Bar(row, pairs, _pieces(pairs), LINE // 2 + 4 + LINE * place)
        for place, (row, pairs) in enumerate(one for one in found if one[1].n)
    ]
    return PairsChart(bars, LINE * len(bars), are_whole) if bars else None


def _pieces(pairs: Pairs) -> list[Piece]:
    pieces, start = [], 0
    for kind, title, _ in KINDS:
        n = getattr(pairs, kind)
        share, x = n / pairs.n, start / pairs.n
        pieces.append(Piece(kind, title, n, share, _length(x), _length(share), _length(x + share / 2)))
        start += n
    return pieces


def _length(share: float) -> str:
    return f"{share * 100:.2f}%"
