"""Division of the groups of a split's gold into public and private ones, which can be made once and never changed."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from decimal import Decimal

from django.db import transaction

from leaderboard.core import row_locks
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages_dataset
from leaderboard.core.storage import deleted_on_failure, opened
from leaderboard.datasets.actions import partition_files
from leaderboard.models import AuditEntry, PublicPrivatePartition, Split, User

HALF = Decimal("0.5")


def partition(
    *,
    split: Split,
    by: User,
    share: Decimal = HALF,
    seed: int | None = None,
    within: Callable[[PublicPrivatePartition], object] | None = None,
) -> PublicPrivatePartition:
    """Divide the groups of the split's current gold at random into public and private; corrections keep the division.

    share: fraction of the groups that becomes public, greater than 0 and less than 1. seed: of the random draw, from 0
    to 2**63 - 1; None: chosen at random. The seed is stored and must stay secret, because anybody who knows it and the
    groups can repeat the draw. within: called with the division in the transaction that stores it; an exception from
    `within` rolls everything back. None: nothing is called. Raises Refused: NOT_AN_ORGANISER, NOT_READY for a split
    without gold or if the gold was corrected meanwhile, ALREADY_EXISTS if the gold is already divided, INVALID_VALUE
    for an invalid share or seed, INVALID_GOLD if the groups cannot be divided (for example, if there are fewer than
    two), SANDBOX_UNAVAILABLE.
    """
    check_manages_dataset(split.dataset, by)
    gold = split.current_gold
    if gold is None:
        raise Refused(
            Code.NOT_READY, f"The split {split.name} has no gold yet; upload it first.", heading="There is no gold yet"
        )
    _check_not_partitioned(split, PublicPrivatePartition.objects.filter(gold=gold).exists())
    if not 0 < share < 1:
        raise Refused(Code.INVALID_VALUE, f"The share is {share}; expected a number greater than 0 and less than 1.")
    used_seed = secrets.randbits(48) if seed is None else seed
    if not 0 <= used_seed < 1 << 63:
        raise Refused(
            Code.INVALID_VALUE, f"The seed is {used_seed}; expected a whole number from 0 to {(1 << 63) - 1}."
        )
    with opened(gold.file, sha256=gold.sha256) as file:
        computed = partition_files.compute(
            split=split, gold=file, name=str(gold.file.name), share=share, seed=used_seed
        )
    partition = partition_files.store_file(gold=gold, partition=computed, by=by)
    with deleted_on_failure(partition.file.storage, str(partition.file.name)), transaction.atomic():
        row_locks.lock_split(split.pk)
        if split.current_gold != gold:
            raise Refused(
                Code.CHANGED_MEANWHILE,
                "The gold was corrected while its groups were divided; divide them again.",
                heading="The groups were not divided",
            )
        _check_not_partitioned(split, PublicPrivatePartition.objects.filter(gold=gold).exists())
        partition.save(force_insert=True)
        AuditEntry.record(
            "gold.divided", gold, by=by, share=str(share), n_public=partition.n_public, n_private=partition.n_private
        )
        if within is not None:
            within(partition)
    return partition


def _check_not_partitioned(split: Split, is_partitioned: bool) -> None:
    if is_partitioned:
        raise Refused(
            Code.ALREADY_EXISTS,
            f"The groups of {split.name} are already divided into public and private; this cannot be changed.",
        )
