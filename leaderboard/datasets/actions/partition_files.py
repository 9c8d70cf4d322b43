"""Divisions of gold groups into public and private ones: compute them in the sandbox, and store them with the gold."""

from __future__ import annotations

import hashlib
from contextlib import ExitStack
from dataclasses import dataclass
from decimal import Decimal
from typing import IO

import structlog
from django.conf import settings
from django.core.files.base import ContentFile

from leaderboard.core.refusal import Code, Refused
from leaderboard.core.storage import AlteredError, opened
from leaderboard.evaluation import sandbox_client
from leaderboard.models import GoldVersion, PublicPrivatePartition, Split, User

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Partition:
    """A division of the groups of a gold file into public and private ones that has not been stored yet.

    share: fraction of the groups that should be public. seed: of the random draw. n_public, n_private: numbers of
    groups drawn. content: file that lists the groups of each subset; it is as secret as gold.
    """

    share: Decimal
    seed: int
    n_public: int
    n_private: int
    content: bytes


def compute(
    *,
    split: Split,
    gold: IO[bytes],
    name: str,
    share: Decimal,
    seed: int,
    previous: PublicPrivatePartition | None = None,
) -> Partition:
    """Divide the groups of a gold file at random into public and private ones. Store nothing.

    split: the split of the gold, whose task and options apply. name: the gold file's name. share: fraction of the
    groups that becomes public. seed: of the random draw. previous: the division of an earlier gold version, whose
    groups stay public or private; None: all groups are drawn. Raises Refused: INVALID_GOLD if the groups cannot be
    divided (for example, if there are fewer than two); SANDBOX_UNAVAILABLE, also if the file of `previous` cannot be
    read.
    """
    gold.seek(0)
    try:
        with ExitStack() as stack:
            files = {"gold": gold}
            if previous is not None:
                files["previous"] = stack.enter_context(opened(previous.file, sha256=previous.sha256))
            answer = sandbox_client.partition(
                files, task=split.dataset.task, options=split.options, gold_name=name, seed=seed, share=str(share)
            )
    except (sandbox_client.SandboxError, AlteredError, FileNotFoundError) as error:
        log.error("public_private_split_failed", split=split.pk, error=type(error).__name__)
        raise Refused(
            Code.SANDBOX_UNAVAILABLE,
            "The groups could not be divided, because the server's sandbox or file storage failed; ask the operator to "
            "check the log.",
        ) from error
    if not answer.ok:
        cause = " ".join(problem["text"] for problem in answer.report.get("problems", [])[:1])
        limits = sandbox_client.limits_in_words(settings.SCORE_SECONDS)
        raise Refused(
            Code.INVALID_GOLD,
            f"The groups cannot be divided: {cause or f'this exceeds the limits for one file, {limits}'}.",
        )
    counts = {subset: int(answer.report[f"n_{subset}"]) for subset in ("public", "private")}
    return Partition(share, seed, counts["public"], counts["private"], answer.attachment)


def store_file(*, gold: GoldVersion, partition: Partition, by: User) -> PublicPrivatePartition:
    """Store the file of a division of a gold version's groups, and return its row, which the caller saves.

    gold: it may be unsaved. If the row is not saved, the caller must delete the file. Call before locking the split:
    uploads wait for that lock, and a store may take long.
    """
    row = PublicPrivatePartition(
        gold=gold,
        share=partition.share,
        seed=partition.seed,
        n_public=partition.n_public,
        n_private=partition.n_private,
        sha256=hashlib.sha256(partition.content).hexdigest(),
        created_by=by,
    )
    row.file.save("division.jsonl", ContentFile(partition.content), save=False)
    return row
