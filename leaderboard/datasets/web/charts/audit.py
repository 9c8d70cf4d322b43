"""Bars in the tables of a split's audit: labels and expected intervals by slice, and overlaps with public gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MOST = 40
"""Maximum number of slices in the table of labels."""
KINDS = 5
"""Number of label colours; further labels share the last colour."""
LEVELS = (
    ("simple", "exact"),
    ("basic", "same words"),
    ("thorough", "different wording"),
)


@dataclass(frozen=True)
class Piece:
    """Segment of a bar.

    share: fraction of the bar. x, width: SVG lengths in percent. kind: number of the colour, from 1.
    """

    name: str
    count: int
    share: float
    x: str
    width: str
    kind: int


@dataclass(frozen=True)
class Bar:
    """A stacked bar. pieces: the same ones in each bar of a table; their counts may sum to less than `total`."""

    name: str
    total: int
    pieces: Sequence[Piece]


@dataclass(frozen=True)
class Balance:
    """The labels' distribution.

    bars: one for all items, then one per slice. labels: (number of its colour, label) of each piece of a bar.
    """

    bars: Sequence[Bar]
    labels: Sequence[tuple[int, str]]


@dataclass(frozen=True)
class Width:
    """Expected half-width of the confidence interval of a score on one slice.

    name: of the slice. n, groups: numbers of gold units and of groups in it. largest_group: units of the largest group.
    half_width: the half-width if systems err on each unit independently; together: the half-width if they err on all
    units of a group or on none. Both are in the unit of the measure, and None for too few groups. bar, end: SVG lengths
    of half_width and together.
    """

    name: str
    n: int
    groups: int
    largest_group: int
    half_width: float | None
    together: float | None
    bar: str
    end: str


def slice_name(slice_: Mapping[str, Any]) -> str:
    """Return the name of a slice, such as `origin=generated`; `all` for the slice of all items.

    slice_: the slice's value by dimension.
    """
    return ", ".join(f"{name}={value}" for name, value in slice_.items()) or "all"


def balance(table: Sequence[Mapping[str, Any]]) -> Balance | None:
    """Return the bars of labels; None if the task's answers are not labels.

    table: the value of `balance` in an audit's report, a row for each slice.
    """
    if not table:
        return None
    labels = sorted({label for row in table for label in row["labels"]})
    kinds = {label: min(index, KINDS) for index, label in enumerate(labels, start=1)}
    bars = [_bar(slice_name(row["slice"]), row["labels"], kinds) for row in table[:MOST]]
    return Balance(bars, [(kind, label) for label, kind in kinds.items()])


def _bar(name: str, counts: Mapping[str, int], kinds: Mapping[str, int]) -> Bar:
    total = sum(counts.values())
    pieces, start = [], 0
    for label in kinds:
        count = counts.get(label, 0)
        share = count / total
        pieces.append(Piece(label, count, share, f"{start / total:.2%}", f"{share:.2%}", kinds[label]))
        start += count
    return Bar(name, total, pieces)


def widths(sizes: Sequence[Mapping[str, Any]]) -> list[Width]:
    """Return the half-widths of expected confidence intervals by slice; empty if no slice has a half-width.

    sizes: the value of `sizes` in an audit's report, a row for each slice.
    """
    half_widths = [float(row[key]) for row in sizes for key in _HALF_WIDTHS if row[key] is not None]
    if not half_widths:
        return []
    widest = max(half_widths)
    return [_width(row, widest) for row in sizes]


_HALF_WIDTHS = ("half_width", "half_width_if_groups_err_together")


def _width(row: Mapping[str, Any], widest: float) -> Width:
    half, together = (row[key] for key in _HALF_WIDTHS)
    ends = [f"{(value or 0.0) / (widest or 1.0):.2%}" for value in (half, together)]
    return Width(slice_name(row["slice"]), row["n"], row["groups"], row["largest_group"], half, together, *ends)


def overlaps(rows: Sequence[Mapping[str, Any]]) -> list[Bar]:
    """Return a bar for each file of public gold with which the audited gold was compared.

    A bar has a segment for each level of similarity in LEVELS, the strictest first. A segment counts the lines that
    match at its level but at no stricter one. rows: the value of `overlaps` in an audit's report.
    """
    bars = []
    for row in rows:
        total = int(row["lines"] if row["counted"] == "lines of the split" else row["training_lines"])
        pieces, start = [], 0
        for kind, (level, name) in enumerate(LEVELS, start=1):
            # The report's count of a level includes the counts of the stricter levels before it.
            count = int(row[level]) - start
            share = count / total if total else 0.0
            pieces.append(Piece(name, count, share, f"{start / total if total else 0:.2%}", f"{share:.2%}", kind))
            start = int(row[level])
        bars.append(Bar(str(row["train"]), total, pieces))
    return bars
