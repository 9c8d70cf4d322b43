"""Rank changes from a board to its successor, stored at the replacement, because later submissions change the ranks."""

from __future__ import annotations

from leaderboard.models import Leaderboard, RankChange, Standing


def record(*, replaced: Leaderboard, board: Leaderboard, measure: str) -> int:
    """Store each system's rank and value on the replaced board and on its successor; return the number of stored rows.

    A system may be on only one of the two boards. measure: name of the measure that ranks `board`. Call with the
    phase's row locked.
    """
    before, after = _standings(replaced), _standings(board)
    rank_changes = []
    for system in dict.fromkeys([*after, *before]):
        old, new = before.get(system), after.get(system)
        rank_changes.append(
            RankChange(
                leaderboard=board,
                replaced=replaced,
                system_id=system,
                measure=measure,
                rank_before=old.rank if old else None,
                value_before=old.value if old else None,
                rank=new.rank if new else None,
                value=new.value if new else None,
            )
        )
    RankChange.objects.bulk_create(rank_changes, batch_size=500)
    return len(rank_changes)


def _standings(board: Leaderboard) -> dict[int, Standing]:
    return {row.system_id: row for row in board.standings.order_by("rank", "pk")}
