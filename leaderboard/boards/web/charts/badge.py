"""A badge: two plates with a text each, as wide as the texts in whatever font draws them."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from leaderboard.boards.queries import Board, Row
from leaderboard.core.plain_text import one_line, shortened

SIZE, HEIGHT, MARGIN = 11.0, 20, 7
"""The font's size, the badge's height, and what stands free beside a text, in pixels."""
CORNER = 3
LONGEST = 40
_NARROW, _BROAD = set("iljtfrI.,:;|'!()[] -"), set("mwMW@%")


@dataclass(frozen=True)
class Plate:
    """One text. x: where the plate begins; length: what the text is drawn at, so that it fits with any font."""

    text: str
    x: int
    length: int

    @property
    def width(self) -> int:
        return self.length + 2 * MARGIN

    @property
    def flat(self) -> int:
        """Its width without the round corner at its end."""
        return self.width - CORNER

    @property
    def text_x(self) -> int:
        return self.x + MARGIN


@dataclass(frozen=True)
class Badge:
    """title: all of it in words, for those who listen."""

    title: str
    left: Plate
    right: Plate
    height: int = HEIGHT

    @property
    def width(self) -> int:
        return self.left.width + self.right.width


def badge(board: Board, row: Row, measure: str) -> Badge:
    """A system's rank among those that compete, and its value of a measure."""
    benchmark, value = one_line(board.phase.benchmark.title), row.cell(measure).value
    ranked = sum(other.rank is not None for other in board.rows)
    place = [] if row.rank is None else [f"rank {row.rank}{'=' if row.tied else ''} of {ranked}"]
    place = ["disqualified"] if row.disqualified else place
    told = [*place, f"{measure} {'none' if value is None else format(value, '.3f')}"]
    where = f"{benchmark}, {one_line(board.phase.title)}"
    left = _plate(shortened(benchmark, LONGEST), 0)
    return Badge(f"{one_line(row.system)} on {where}: {', '.join(told)}", left, _plate(" · ".join(told), left.width))


def _plate(text: str, x: int) -> Plate:
    return Plate(text, x, round(sum(map(_width, text))))


def _width(sign: str) -> float:
    if unicodedata.combining(sign):
        return 0.0
    if unicodedata.east_asian_width(sign) in ("W", "F"):
        return SIZE
    share = 0.36 if sign in _NARROW else 0.92 if sign in _BROAD else 0.68 if sign.isupper() else 0.58
    return SIZE * share
