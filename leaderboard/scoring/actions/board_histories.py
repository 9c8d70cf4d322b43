"""The step of a sweep that derives past standings of boards that no change of these has derived.

There are such after an upgrade, the import of an archive, and more releases at a time than one change reads.
"""

from __future__ import annotations

import time

from django.db import transaction

from leaderboard.boards.actions import boards, past_standings
from leaderboard.core import row_locks
from leaderboard.models import Leaderboard

SECONDS = 2.0
"""Time that the step takes at most, apart from its last batch."""


def sweep(seconds: float = SECONDS) -> None:
    """Derive past standings, some hundred systems in each transaction, until `seconds` have passed or none is left."""
    end = time.monotonic() + seconds
    waiting = Leaderboard.objects.exclude(history__is_complete=True).order_by("pk").values_list("pk", "phase")
    for pk, phase_id in list(waiting):
        is_complete = False
        while not is_complete and time.monotonic() < end:
            with transaction.atomic():
                phase = row_locks.lock_phase(phase_id)
                board = Leaderboard.objects.select_related("gold_version").filter(pk=pk).first()
                if board is not None:
                    board.phase = phase
                is_complete = board is None or past_standings.catch_up(board)
                if is_complete:  # pages that say that past days are being prepared have the ETag of the revision
                    boards.revise(Leaderboard.objects.filter(pk=pk))
