"""Citations of a board: permanent URL, gold and task versions, date, and SHA-256 digest of its content."""

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
from leaderboard.core.text.latex_text import escaped
from leaderboard.core.text.plain_text import one_line
from leaderboard.models import Leaderboard

OF_A_ROW = ("rank", "system", "team", "kind")
SCORE_FIELDS = ("value", "low", "high", "n")


@dataclass(frozen=True)
class Citation:
    """Citation of a board with its current content.

    benchmark, phase: titles. key: BibTeX key. at: when the board's latest result was published.
    address: permanent URL of the board of this gold and task version, valid also after a newer board replaces it.
    sha256: digest of `canonical(board)`, in hexadecimal; empty for a board of which only the best rows were read.
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
        """URL of the board as of the end of the day of its latest result."""
        return f"{self.address}?{urlencode({'as_of': self.date})}"

    @property
    def text(self) -> str:
        """The citation as plain text for a reference list."""
        name = f"{one_line(self.benchmark)}, {one_line(self.phase)}: leaderboard"
        return f"{name}. {self.address}. {self._note}."

    @property
    def bibtex(self) -> str:
        r"""The citation as a BibTeX entry of the type `@misc`; its `\url` needs the LaTeX package url or hyperref."""
        fields = {
            "key": escaped(self.benchmark),
            "title": f"{{{escaped(self.benchmark)}}}, {{{escaped(self.phase)}}}: leaderboard",
            "year": str(self.at.year),
            "month": f"{self.at:%b}".lower(),
            "howpublished": rf"\url{{{self.address}}}",
            "note": self._note,
        }
        # Month abbreviations are BibTeX macros, which take no braces.
        lines = [f"  {name} = {value if name == 'month' else f'{{{value}}}'}" for name, value in fields.items()]
        return f"@misc{{{self.key},\n" + ",\n".join(lines) + "\n}\n"

    @property
    def _note(self) -> str:
        versions = f"Gold version {self.gold_version}, task version {self.task_version}"
        return f"{versions}, results of {self.date}" + (f", SHA-256 {self.sha256}" if self.sha256 else "")


def citation(board: Board) -> Citation | None:
    """Return the citation of a board; None if it has no rows.

    The board must have been read with all slices and for the public: the digest covers every score and name. It is left
    out if only the best rows of the board were read.
    """
    leaderboard = board.leaderboard
    if leaderboard is None or not board.rows:
        return None
    phase, number, version = board.phase, leaderboard.gold_version.number, leaderboard.task_version
    url_args = [phase.benchmark.slug, phase.slug, number, version]
    return Citation(
        benchmark=phase.benchmark.title,
        phase=phase.title,
        key=f"holdout-{phase.benchmark.slug}-{phase.slug}-gold-{number}-task-{version}",
        address=settings.BASE_URL + reverse("frozen_board", args=url_args),
        gold_version=number,
        task_version=version,
        at=_latest_release(leaderboard) if board.is_cut else max(row.released_at for row in board.rows),
        sha256="" if board.is_cut else hashlib.sha256(canonical(board)).hexdigest(),
    )


def _latest_release(leaderboard: Leaderboard) -> datetime:
    return leaderboard.standings.order_by("-release_id").values_list("release__released_at", flat=True)[0]


def canonical(board: Board) -> bytes:
    """Serialize a board as JSON with sorted keys and no white space: equal boards give equal bytes.

    Includes every revealed score with its versions and submission. Excludes everything that can change without a new
    result: rank ranges (computed some seconds later), costs, and texts of organisers and teams (titles, descriptions,
    reported results).
    """
    leaderboard = board.leaderboard
    content = {
        "benchmark": board.phase.benchmark.slug,
        "phase": board.phase.slug,
        "split": board.phase.split.name,
        "task": board.phase.benchmark.task,
        "gold_version": leaderboard.gold_version.number if leaderboard else None,
        "task_version": leaderboard.task_version if leaderboard else None,
        "primary": board.primary,
        "rows": [_row(row) for row in by_primary(board)],
    }
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def _row(row: Row) -> dict[str, Any]:
    scores = sorted(row.scores.items())
    return {
        **{name: getattr(row, name) for name in OF_A_ROW},
        "disqualified": row.disqualified,
        # Omitted when empty, so that boards of phases without tracks keep their digests.
        **({"track": row.track} if row.track else {}),
        "submission": str(row.submission_id),
        "received_at": row.received_at.isoformat(),
        "released_at": row.released_at.isoformat(),
        "scores": [
            {"measure": measure, "slice": dict(slice_), **{name: getattr(score, name) for name in SCORE_FIELDS}}
            for (measure, slice_), score in scores
        ],
    }
