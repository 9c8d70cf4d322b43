"""Stacked bar chart of a symmetric set's pairs of an original and a generated claim, by which of them is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.queries import Row
from leaderboard.boards.queries.plots import Pairs

LINE = 46
"""Height of a system's row in pixels: on a phone its name is above the bar."""
THICK = 22
LONGEST = 34
KINDS = (
    ("both", "both right", "the original and the generated claim"),
    ("drop", "drop", "only the original right"),
    ("flip", "flip", "only the generated claim right"),
    ("neither", "both wrong", "neither"),
)
"""(name, title, meaning), in the order of the bar."""
CLAIM_ONLY_BOUND = 1 / 3
"""Largest share of pairs in which a system that reads only the claim has both right. Members 1 (the original) and 2 of
a group share a claim and differ in their label, and so do 3 and 4 (Schuster et al. 2019). If 1 is right, 2 is wrong,
and so is one of 3 and 4: in at most one of the three pairs of member 1 with another, both are right."""
ROOM = 0.07
"""Smallest share of a segment that has room for its number."""


@dataclass(frozen=True)
class Piece:
    """A segment of a bar. n, share: its number and share of pairs. x, width, middle: SVG lengths."""

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
        """Position of FLOOR, as an SVG length: the largest share in which a claim-only system has both claims right."""
        return _length(CLAIM_ONLY_BOUND)

    @property
    def ticks(self) -> list[tuple[str, str]]:
        return [(f"{share}%", f"{share}") for share in (0, 25, 50, 75, 100)]


def pairs_chart(rows: Sequence[tuple[Row, Pairs]], *, are_whole: bool = False) -> PairsChart | None:
    """Return a chart with one bar per system, in the order of the input; None if no system has a pair.

    are_whole: every group has its four members, so that FLOOR applies.
    """
    bars = [
        Bar(row, pairs, _pieces(pairs), LINE // 2 + 4 + LINE * index)
        for index, (row, pairs) in enumerate(entry for entry in rows if entry[1].n)
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
