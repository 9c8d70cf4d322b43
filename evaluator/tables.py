"""Scores and comparisons as text tables, for people at a terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from evaluator.errors import printable
from evaluator.outcomes import slice_text

Row = Mapping[str, Any]


def score_table(scores: Sequence[Row]) -> str:
    """scores: as `score --json` has them."""
    rows: list[tuple[str, ...]] = [("measure", "slice", "value", "95% interval", "n")]
    for score in scores:
        rows.append((score["measure"], _place(score), _number(score["value"]), _interval(score), str(score["n"])))
    return _aligned(rows)


def comparison_table(comparisons: Sequence[Row]) -> str:
    """comparisons: as `compare --json` has them."""
    rows: list[tuple[str, ...]] = [
        ("measure", "slice", "a", "b", "a - b", "95% interval", "p", "McNemar", "n", "groups")
    ]
    for row in comparisons:
        numbers = [_number(row[name]) for name in ("a", "b", "difference")]
        chances = [_chance(row[name]) for name in ("p", "p_mcnemar")]
        counts = [str(row[name]) for name in ("n", "n_groups")]
        rows.append((row["measure"], _place(row), *numbers, _interval(row), *chances, *counts))
    return _aligned(rows)


def _place(row: Row) -> str:
    names = [f"{printable(name)}={printable(slice_text(value))}" for name, value in row["slice"].items()]
    return ", ".join(names) or "all"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4f}"


def _interval(row: Row) -> str:
    return "-" if row["low"] is None else f"{row['low']:.4f} to {row['high']:.4f}"


def _chance(p: float | None) -> str:
    return f"{p:.1e}" if p is not None and 0 < p < 0.0001 else _number(p)


def _aligned(rows: Sequence[tuple[str, ...]]) -> str:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join(line.rstrip() for line in lines)
