"""What a citation of a board needs: an address that stays, versions, a date, and a digest of what the board says."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.urls import reverse

from leaderboard.boards.queries import Board, Row, by_primary
from leaderboard.core.latex_text import escaped
from leaderboard.core.plain_text import one_line

OF_A_ROW = ("rank", "system", "team", "kind")
OF_A_CELL = ("value", "low", "high", "n")


@dataclass(frozen=True)
class Citation:
    """One board as it stood. at: when the latest of its results was published.

    address: shows the board of this gold and task version, whatever takes its place. sha256: of `canonical(board)`.
    """

    benchmark: str
    phase: str
    key: str
    address: str
    gold_version: int
    task_version: int
    at: datetime
    sha256: str

    @property
    def date(self) -> str:
        return self.at.date().isoformat()

    @property
    def address_as_of(self) -> str:
        """Shows the board as the day of its latest result ended, whatever comes later."""
        return f"{self.address}?{urlencode({'as_of': self.date})}"

    @property
    def text(self) -> str:
        """For a reference list that is written by hand."""
        name = f"{one_line(self.benchmark)}, {one_line(self.phase)}: leaderboard"
        return f"{name}. {self.address} {self._note}."

    @property
    def bibtex(self) -> str:
        """One `@misc` entry; `\\url` needs the package url or hyperref."""
        fields = {
            "key": escaped(self.benchmark),
            "title": f"{{{escaped(self.benchmark)}}}, {{{escaped(self.phase)}}}: leaderboard",
            "year": str(self.at.year),
            "month": f"{self.at:%b}".lower(),
            "howpublished": rf"\url{{{self.address}}}",
            "note": self._note,
        }
        # A month's abbreviation is a macro of BibTeX's own: it stands without braces.
        lines = [f"  {name} = {value if name == 'month' else f'{{{value}}}'}" for name, value in fields.items()]
        return f"@misc{{{self.key},\n" + ",\n".join(lines) + "\n}\n"

    @property
    def _note(self) -> str:
        versions = f"Gold version {self.gold_version}, task version {self.task_version}"
        return f"{versions}, results of {self.date}, SHA-256 {self.sha256}"


def citation(board: Board) -> Citation | None:
    """Of a board that was read with all its slices, for the public; None where nothing was published yet."""
    made_of = board.leaderboard
    if made_of is None or not board.rows:
        return None
    phase, number, version = board.phase, made_of.gold_version.number, made_of.task_version
    where = [phase.benchmark.slug, phase.slug, number, version]
    return Citation(
        benchmark=phase.benchmark.title,
        phase=phase.title,
        key=f"holdout-{phase.benchmark.slug}-{phase.slug}-gold-{number}-task-{version}",
        address=settings.BASE_URL + reverse("frozen_board", args=where),
        gold_version=number,
        task_version=version,
        at=max(row.released_at for row in board.rows),
        sha256=hashlib.sha256(canonical(board)).hexdigest(),
    )


def canonical(board: Board) -> bytes:
    """What a board says, as JSON with sorted keys and no white space: equal boards give equal bytes.

    Every revealed score, and what it rests on. Left out is what changes without a result: rank ranges, which come some
    seconds later, costs, and what organisers and teams write (titles, descriptions, what papers report).
    """
    made_of = board.leaderboard
    told = {
        "benchmark": board.phase.benchmark.slug,
        "phase": board.phase.slug,
        "split": board.phase.split.name,
        "task": board.phase.benchmark.task,
        "gold_version": made_of.gold_version.number if made_of else None,
        "task_version": made_of.task_version if made_of else None,
        "primary": board.primary,
        "rows": [_row(row) for row in by_primary(board)],
    }
    return json.dumps(told, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def _row(row: Row) -> dict[str, Any]:
    cells = sorted(row.cells.items())
    return {
        **{name: getattr(row, name) for name in OF_A_ROW},
        "disqualified": row.disqualified,
        # Only where it says something, so that a board of a phase without tracks keeps its digest.
        **({"track": row.track} if row.track else {}),
        "submission": str(row.submission_id),
        "received_at": row.received_at.isoformat(),
        "released_at": row.released_at.isoformat(),
        "scores": [
            {"measure": measure, "slice": dict(slice_), **{name: getattr(cell, name) for name in OF_A_CELL}}
            for (measure, slice_), cell in cells
        ],
    }
