"""The pictures of a split's audit: labels by slice, interval widths by slice, and what public gold tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from leaderboard.core.web.scale import Scale, covering

MOST = 40
"""Slices in a picture; tables have all of them."""
KINDS = 5
"""Colours that labels have; further ones share the last."""
LEVELS = (
    ("simple", "to the letter"),
    ("basic", "in the same words"),
    ("thorough", "in other words"),
)


@dataclass(frozen=True)
class Piece:
    """A part of a bar. x and width are SVG lengths; kind counts the colours from 1."""

    name: str
    count: int
    share: float
    x: str
    width: str
    kind: int


@dataclass(frozen=True)
class Bar:
    name: str
    total: int
    pieces: Sequence[Piece]

    @property
    def told(self) -> int:
        """What its pieces stand for, all in all."""
        return sum(piece.count for piece in self.pieces)


@dataclass(frozen=True)
class Balance:
    """bars: the whole first, then slices. labels: (colour, name) for the key."""

    bars: Sequence[Bar]
    labels: Sequence[tuple[int, str]]


@dataclass(frozen=True)
class Width:
    """A slice and how far its interval will reach to either side; places are SVG lengths. end: if groups err together.

    None where too few groups give no interval.
    """

    name: str
    n: int
    groups: int
    half: float | None
    together: float | None
    bar: str
    end: str


@dataclass(frozen=True)
class Widths:
    rows: Sequence[Width]
    scale: Scale


def slice_name(slice_: Mapping[str, Any]) -> str:
    """`origin=generated`, or `all`."""
    return ", ".join(f"{name}={value}" for name, value in slice_.items()) or "all"


def balance(table: Sequence[Mapping[str, Any]]) -> Balance | None:
    """table: the report's `balance`; None where answers are no classes."""
    if not table:
        return None
    labels = sorted({label for row in table for label in row["labels"]})
    kinds = {label: min(place, KINDS) for place, label in enumerate(labels, start=1)}
    bars = [_bar(slice_name(row["slice"]), row["labels"], kinds) for row in table[:MOST]]
    return Balance(bars, [(kind, label) for label, kind in kinds.items()])


def _bar(name: str, counts: Mapping[str, int], kinds: Mapping[str, int]) -> Bar:
    total = sum(counts.values())
    pieces, begin = [], 0
    for label, count in sorted(counts.items()):
        share = count / total
        pieces.append(Piece(label, count, share, f"{begin / total:.2%}", f"{share:.2%}", kinds[label]))
        begin += count
    return Bar(name, total, pieces)


def widths(sizes: Sequence[Mapping[str, Any]]) -> Widths | None:
    """sizes: the report's; None where no slice has an interval."""
    known = [float(row[key]) for row in sizes for key in _HALVES if row[key] is not None]
    if not known:
        return None
    scale = covering([0.0, *known])
    return Widths([_width(row, scale) for row in sizes[:MOST]], scale)


_HALVES = ("half_width", "half_width_if_groups_err_together")


def _width(row: Mapping[str, Any], scale: Scale) -> Width:
    half, together = (row[key] for key in _HALVES)
    ends = [scale.at(value if value is not None else 0.0) for value in (half, together)]
    return Width(slice_name(row["slice"]), row["n"], row["groups"], half, together, *ends)


def overlaps(rows: Sequence[Mapping[str, Any]]) -> list[Bar]:
    """A bar for each file of public gold; rows: the report's `overlaps`. Levels are drawn side by side, not nested."""
    bars = []
    for row in rows:
        of = int(row["lines"] if row["counted"] == "lines of the split" else row["training_lines"])
        pieces, begin = [], 0
        for kind, (level, name) in enumerate(LEVELS, start=1):
            # The report counts the lower levels in.
            count = int(row[level]) - begin
            share = count / of if of else 0.0
            pieces.append(Piece(name, count, share, f"{begin / of if of else 0:.2%}", f"{share:.2%}", kind))
            begin = int(row[level])
        bars.append(Bar(str(row["train"]), of, pieces))
    return bars
