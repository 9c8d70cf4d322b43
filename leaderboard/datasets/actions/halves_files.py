"""Divisions of gold in two halves, as they are drawn in the sandbox and stored beside the gold."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from decimal import Decimal
from typing import IO

import structlog
from django.core.files.base import ContentFile

from leaderboard.core.refusal import Code, Refused
from leaderboard.core.storage import AlteredError
from leaderboard.evaluation import sandbox_client
from leaderboard.models import Division, GoldVersion, Split, User

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Drawn:
    """Halves that are not stored yet. `content` is as secret as gold."""

    share: Decimal
    seed: int
    n_public: int
    n_private: int
    content: bytes


def draw(*, split: Split, gold: IO[bytes], name: str, share: Decimal, seed: int, kept: Division | None = None) -> Drawn:
    """The halves of a gold file's groups; groups of an earlier division keep their half.

    Raises Refused: INVALID_GOLD where the groups cannot be divided, REFEREE_AWAY.
    """
    gold.seek(0)
    asked = {"task": split.dataset.task, "options": split.options, "seed": seed, "share": str(share), "kept": kept}
    try:
        answer = sandbox_client.divide(gold=gold, name=name, **asked)
    except (sandbox_client.SandboxError, AlteredError, FileNotFoundError) as error:
        log.error("not_divided", split=split.pk, error=type(error).__name__)
        raise Refused(Code.REFEREE_AWAY, "The groups could not be divided: ask the operator to look.") from error
    if not answer.ok:
        what = " ".join(problem["text"] for problem in answer.report.get("problems", [])[:1])
        raise Refused(Code.INVALID_GOLD, f"The groups cannot be divided: {what or 'it took too long'}.")
    counts = {half: int(answer.report[f"n_{half}"]) for half in ("public", "private")}
    return Drawn(share, seed, counts["public"], counts["private"], answer.attachment)


def store(*, gold: GoldVersion, drawn: Drawn, by: User) -> Division:
    """Keep halves with their gold. Call in a transaction; the file goes again if the row cannot be kept."""
    division = Division(
        gold=gold,
        share=drawn.share,
        seed=drawn.seed,
        n_public=drawn.n_public,
        n_private=drawn.n_private,
        sha256=hashlib.sha256(drawn.content).hexdigest(),
        created_by=by,
    )
    division.file.save("division.jsonl", ContentFile(drawn.content), save=False)
    try:
        division.save(force_insert=True)
    except BaseException:
        division.file.storage.delete(str(division.file.name))
        raise
    return division
