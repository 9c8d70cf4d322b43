"""Dumbbell chart of a symmetric set: accuracy on original and generated claims, and that of a claim-only model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from leaderboard.boards.queries import Row, ShownScore
from leaderboard.core.web.scale import Scale

CLAIM_ONLY_ACCURACY = 0.5
"""Accuracy of a claim-only model on a symmetric set, where each claim occurs once with each label."""

ORIGINAL = (("origin", "original"),)
GENERATED = (("origin", "generated"),)


@dataclass(frozen=True)
class Dumbbell:
    """One system: its two accuracies. original_at, generated_at: their positions on the scale, as SVG lengths."""

    row: Row
    original: ShownScore
    generated: ShownScore
    original_at: str
    generated_at: str


@dataclass(frozen=True)
class DumbbellChart:
    scale: Scale
    floor: str
    dumbbells: Sequence[Dumbbell]


def dumbbells(rows: Sequence[Row]) -> DumbbellChart | None:
    """Return the chart of the rows with both accuracies, in the order of `rows`; None if there are none."""
    scale = Scale(0.0, 1.0, 0.1)
    shown = []
    for row in rows:
        original, generated = row.score("accuracy", ORIGINAL), row.score("accuracy", GENERATED)
        if original.value is not None and generated.value is not None:
            shown.append(Dumbbell(row, original, generated, scale.at(original.value), scale.at(generated.value)))
    return DumbbellChart(scale, scale.at(CLAIM_ONLY_ACCURACY), shown) if shown else None
