"""The dumbbell chart of a symmetric set: accuracy on the original and on the generated claims, and the floor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.queries import Cell, Row
from leaderboard.core.web.scale import Scale

FLOOR = 0.5
"""What a model that reads the claim alone gets on a symmetric set: each claim stands there once with each answer."""

ORIGINAL = (("origin", "original"),)
GENERATED = (("origin", "generated"),)


@dataclass(frozen=True)
class Dumbbell:
    """One system's line; places are SVG lengths."""

    row: Row
    original: Cell
    generated: Cell
    original_at: str
    generated_at: str


@dataclass(frozen=True)
class DumbbellChart:
    scale: Scale
    floor: str
    dumbbells: Sequence[Dumbbell]


def dumbbells(rows: Sequence[Row]) -> DumbbellChart | None:
    """The chart of the rows with both accuracies, in their order; None where there is none."""
    scale = Scale(0.0, 1.0, 0.1)
    shown = []
    for row in rows:
        original, generated = row.cell("accuracy", ORIGINAL), row.cell("accuracy", GENERATED)
        if original.value is not None and generated.value is not None:
            shown.append(Dumbbell(row, original, generated, scale.at(original.value), scale.at(generated.value)))
    return DumbbellChart(scale, scale.at(FLOOR), shown) if shown else None
