"""Gold that is too large to be checked during its upload: it is stored, and a worker checks it.

Small gold is checked in the request, so that its problems are shown at once.
"""

from __future__ import annotations

from django.core.files import File
from django.db import transaction

from leaderboard.core import db_clock, row_locks
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages_dataset
from leaderboard.core.storage import check_digest, delete_after_commit, deleted_on_failure, opened
from leaderboard.core.uploads import sha256_of
from leaderboard.datasets.actions import corrections, splits
from leaderboard.evaluation import sandbox_client
from leaderboard.models import ACTIVE, AuditEntry, GoldUpload, Reason, Split, State, User
from leaderboard.work_queue.lease import Lease
from leaderboard.work_queue.work import Urgency, Work


def queue(*, split: Split, file: File[bytes], reason: str, by: User) -> GoldUpload:
    """Store a gold file, and queue its check; a worker then adds it as gold, or proposes it as a correction.

    reason: of the gold version that it becomes; a correction gets its reason when it is confirmed. Raises Refused:
    NOT_AN_ORGANISER; NOT_READY if another file for the split is waiting or being checked; GOLD_UNCHANGED.
    """
    check_manages_dataset(split.dataset, by)
    digest = sha256_of(file)
    splits.check_is_another(split, digest)
    name = (file.name or "gold.jsonl").rpartition("/")[2][-255:]
    upload = GoldUpload(
        split=split,
        name=name,
        sha256=digest,
        bytes=file.size,
        version_reason=reason,
        created_by=by,
        queued_at=db_clock.read(),
        enqueued_at=db_clock.now(),
    )
    file.seek(0)
    upload.file.save(name, file, save=False)
    with deleted_on_failure(upload.file.storage, str(upload.file.name)), transaction.atomic():
        row_locks.lock_split(split.pk)
        if split.gold_uploads.filter(state__in=ACTIVE).exists():
            raise Refused(
                Code.NOT_READY,
                "Another gold file for this split is being checked; wait until it is, then upload this one.",
                heading="The gold was not accepted",
            )
        upload.save(force_insert=True)
        AuditEntry.record("gold.uploaded", split, by=by, sha256=digest)
        WORK.enqueue(upload)
    return upload


def _check(lease: Lease[GoldUpload]) -> None:
    upload, split = lease.row, lease.row.split
    with opened(upload.file) as stored:
        check_digest(stored, upload.sha256)
        file: File[bytes] = File(stored, name=upload.name)
        file.size = upload.bytes
        file.sha256 = upload.sha256  # type: ignore[attr-defined]  # as uploads carry it
        try:
            if split.is_draft or split.current_gold is None:
                splits.add_gold(
                    split=split,
                    file=file,
                    reason=upload.version_reason,
                    by=upload.created_by,
                    within=lambda gold: _finish(lease, gold=gold),
                )
            else:
                correction = corrections.propose(split=split, file=file, by=upload.created_by)
                _finish(lease, correction=correction)
        except Refused as refused:
            if isinstance(refused.__cause__, sandbox_client.SandboxError):
                raise refused.__cause__ from refused  # the attempt is repeated
            _reject(lease, refused)


@transaction.atomic
def _finish(lease: Lease[GoldUpload], **made: object) -> None:
    lease.finish(state=State.DONE, reason=Reason.NONE, file="", **made)
    delete_after_commit(lease.row.file)


@transaction.atomic
def _reject(lease: Lease[GoldUpload], refused: Refused) -> None:
    lease.finish(
        state=State.REJECTED,
        reason=Reason.BAD_GOLD,
        file="",
        message=refused.message,
        problems=refused.problems,
        more=refused.more,
    )
    delete_after_commit(lease.row.file)


WORK = Work(
    name="check_gold",
    rows=GoldUpload.objects.select_related("split__dataset", "created_by"),
    do=_check,
    urgency=Urgency.PAGE,
)
