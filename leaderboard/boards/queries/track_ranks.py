"""Ranks within the tracks of a phase, derived from the ranks on its whole board."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

TrackRanks = Mapping[tuple[str, int], tuple[int, bool]]
"""(track, rank on the whole board) -> (rank within the track, whether several systems of the track share this rank)."""


def ranks_of(ranked: Iterable[tuple[str, int | None]]) -> TrackRanks:
    """Return {(track, rank on the whole board): (rank within the track, whether several systems share this rank)}.

    ranked: (track, rank on the whole board or None) of each system of a board. A system's rank within its track is 1 +
    the number of better systems of that track. Systems of one track that share a rank on the board share their rank
    within the track. Systems without a track or rank are left out.
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
