"""Ranks within the tracks of a phase, derived from the ranks on its whole board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

TrackRanks = Mapping[tuple[str, int], tuple[int, bool]]
"""(track, rank on the whole board) -> (rank within the track, True if several systems of the track share it)."""


def ranks_of(ranked: Iterable[tuple[str, int | None]]) -> TrackRanks:
    """Return the ranks within tracks. ranked: track and rank (or None) of each system of a board.

    A system's rank within its track is 1 + the number of better systems there; ties on the board are ties there.
    Systems without a track or rank are left out.
    """
    counts: dict[str, Counter[int]] = {}
    for track, rank in ranked:
        if track and rank is not None:
            counts.setdefault(track, Counter())[rank] += 1
    track_ranks: dict[tuple[str, int], tuple[int, bool]] = {}
    for track, ranks in counts.items():
        n_better = 0
        for rank, n in sorted(ranks.items()):
            track_ranks[track, rank] = n_better + 1, n > 1
            n_better += n
    return track_ranks
