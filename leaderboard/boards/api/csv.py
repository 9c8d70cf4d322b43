"""A board as CSV that no spreadsheet takes for formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from leaderboard.boards.queries import Key, Row, label

ACTIVE = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet may take for the start of a formula, full-width forms included."""
ABOUT = ("rank", "system", "team", "kind", "submission", "received_at", "released_at")


def neutral(text: str) -> str:
    """Text that a spreadsheet shows and does not run; numbers are written as numbers and do not come here."""
    return f"'{text}" if text.startswith(ACTIVE) else text


def written(rows: Iterable[Row], keys: Sequence[Key], costs: Sequence[str]) -> str:
    """The table. Four columns a key: the value under the key's label, then `:low`, `:high` and `:n`.

    costs: which of costs.KINDS follow, a column each; then `track` and `track_rank` where rows have a track, and where
    a row is disqualified the reason.
    """
    rows = list(rows)
    tracked = any(row.track for row in rows)
    out_of_it = any(row.disqualified for row in rows)
    lines = io.StringIO()
    out = csv.writer(lines)
    parts = [neutral(f"{label(key)}{part}") for key in keys for part in ("", ":low", ":high", ":n")]
    out.writerow([*ABOUT, *parts, *costs, *["track", "track_rank"] * tracked, *["disqualified"] * out_of_it])
    for row in rows:
        reason = [neutral(row.disqualified)] * out_of_it
        of_track = [neutral(row.track), row.track_rank] * tracked
        out.writerow([*_about(row), *_numbers(row, keys), *(row.spent(kind) for kind in costs), *of_track, *reason])
    return lines.getvalue()


def _about(row: Row) -> list[object]:
    dates = (row.received_at.isoformat(), row.released_at.isoformat())
    texts = (row.system, row.team, row.kind, str(row.submission_id), *dates)
    return [row.rank, *map(neutral, texts)]


def _numbers(row: Row, keys: Sequence[Key]) -> list[object]:
    cells = (row.cell(*key) for key in keys)
    return [number for cell in cells for number in (cell.value, cell.low, cell.high, cell.n)]
