"""Ranks within the tracks of a phase, from the ranks on its whole board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

Places = Mapping[tuple[str, int], tuple[int, bool]]
"""(track, rank on the whole board) -> (rank within the track, whether several systems of the track share it)."""


def places_of(ranked: Iterable[tuple[str, int | None]]) -> Places:
    """`ranked`: the track and the rank of each system of a board, None where it has no rank. Systems without a track
    have no place in one.

    Within a track a system's rank is 1 + how many of the track are before it; who ties on the board ties there.
    """
    counts: dict[str, Counter[int]] = {}
    for track, rank in ranked:
        if track and rank is not None:
            counts.setdefault(track, Counter())[rank] += 1
    found: dict[tuple[str, int], tuple[int, bool]] = {}
    for track, ranks in counts.items():
        before = 0
        for rank, n in sorted(ranks.items()):
            found[track, rank] = before + 1, n > 1
            before += n
    return found
