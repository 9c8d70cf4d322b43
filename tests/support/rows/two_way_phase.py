"""A phase that crosses two dimensions, for tests: the tiny world's gold and releases with its two-way slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from leaderboard.models import GoldVersion, Phase
from tests.support.rows.board_rows import score, symmetric_scores
from tests.support.rows.tiny_world import World

PAIR = ("origin", "label")
ADDRESS = "/benchmarks/tiny/test/two-way/origin/label/"


def cross(world: World, pair: tuple[str, str] = PAIR, **dimensions: Sequence[Any]) -> None:
    """Make the phase cross `pair`. dimensions: if given, those of a gold version that replaces the world's."""
    Phase.objects.filter(pk=world.phase.pk).update(options={"cross": ",".join(pair)})
    if dimensions:
        replace_gold(world, dimensions=dimensions)


def replace_gold(world: World, **changes: Any) -> None:
    """Add a later gold version before any scoring; stored versions never change."""
    names = ("number", "bytes", "n_lines", "n_units", "n_groups", "dimensions", "measures", "primary", "expects")
    fields = {name: getattr(world.gold, name) for name in names} | {"number": world.gold.number + 1} | changes
    world.gold = GoldVersion.objects.create(
        split=world.split, file=world.gold.file, sha256=str(fields["number"]) * 64, reason="again", **fields
    )


def crossed_scores(
    values: dict[tuple[str, str], float | None], *, whole: float | None = 0.75, pair: tuple[str, str] = PAIR
) -> list[dict[str, Any]]:
    """Return two-way accuracy by (outer, inner), and the margins of both dimensions with the overall value."""
    outer, inner = pair
    margins = {(outer, a) for a, _ in values} | {(inner, b) for _, b in values}
    return [
        *(part for part in symmetric_scores(whole) if not part["slice"]),
        *(score("accuracy", whole, 2, **{name: value}) for name, value in sorted(margins)),
        *(score("accuracy", value, 1, **{outer: a, inner: b}) for (a, b), value in values.items()),
    ]
