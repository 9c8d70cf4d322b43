"""Corrections (migration of gold) in two steps: a file is uploaded and compared, then confirmed or dropped.

The comparison reads both gold files, so an evaluation worker runs it in the sandbox (docs/adr/0021). A correction takes
effect only after a manager has seen the changes, stated the reason and confirmed; unconfirmed corrections expire.

Other modules correct generated gold through its raw file (`leaderboard.curation.actions.correct_by_preview`), rescore
phases after a correction (`leaderboard.scoring.actions.rescoring`) and give public notice of it
(`leaderboard.datasets.queries.errata`).
"""

from __future__ import annotations

import hashlib
from datetime import timedelta

from django.core.files import File
from django.db import transaction
from django.utils import timezone

from evaluator.jsonl.decompress import is_packed
from leaderboard.core import db_clock, row_locks
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages_dataset
from leaderboard.core.storage import check_digest, delete_after_commit, deleted_on_failure, opened
from leaderboard.core.uploads import sha256_of
from leaderboard.datasets.actions import gold_diffs, gold_tables, splits
from leaderboard.datasets.actions.gold_validation import prepare
from leaderboard.models import AuditEntry, Correction, GoldVersion, Reason, Split, State, User
from leaderboard.work_queue.lease import cancel_rows

Decision = Correction.Decision
PENDING_FOR = timedelta(days=7)
"""Time until an unconfirmed correction expires."""
LONGEST = 1000


def propose(*, split: Split, file: File[bytes], by: User) -> Correction:
    """Validate a corrected gold file and store it as a pending correction; queue its comparison with the current gold.

    An earlier pending correction of the split is dropped. Raises Refused, and then stores nothing: INVALID_GOLD with
    the invalid lines, GOLD_UNCHANGED for a file that already is a gold version of this split, NOT_READY for a split
    without gold, SANDBOX_UNAVAILABLE, NOT_AN_ORGANISER.
    """
    check_manages_dataset(split.dataset, by)
    base = split.current_gold
    if base is None:
        raise Refused(
            Code.NOT_READY,
            f"The split {split.name} has no gold yet; there is nothing to correct.",
            heading="There is no gold yet",
        )
    file = gold_tables.as_json_lines(split=split, file=file, by=by).file
    digest = sha256_of(file)
    splits.check_is_another(split, digest)
    name = (file.name or "gold.jsonl").rpartition("/")[2][-255:]
    prepared = prepare(split=split, file=file, name=name, by=by)
    at = timezone.now()
    correction = Correction(
        split=split,
        base=base,
        name=name,
        sha256=digest,
        bytes=file.size,
        inputs_sha256=hashlib.sha256(prepared.inputs).hexdigest(),
        created_by=by,
        queued_at=at,
        enqueued_at=db_clock.now(),
        expires_at=at + PENDING_FOR,
    )
    file.seek(0)
    correction.file.save("gold.jsonl.gz" if is_packed(name) else "gold.jsonl", file, save=False)
    with deleted_on_failure(correction.file.storage, str(correction.file.name)), transaction.atomic():
        row_locks.lock_split(split.pk)
        for earlier in split.corrections.filter(decision=Decision.PENDING):
            _end(earlier, Decision.DROPPED, by=by)
        correction.save(force_insert=True)
        AuditEntry.record("correction.proposed", correction, by=by, split=split.name, gold=base.number, sha256=digest)
        gold_diffs.WORK.enqueue(correction)
    return correction


def confirm(*, correction: Correction, reason: str, publishes_count: bool, by: User) -> GoldVersion:
    """Make a pending correction the split's next gold version and rescore each phase on the split.

    reason: public, 1 to LONGEST characters. publishes_count: publish the number of changed items, although the gold is
    hidden (of public gold anybody can count them). Raises Refused: NOT_READY for a correction that was already
    confirmed or dropped or has expired, whose comparison is not complete or has failed, or that was compared with gold
    that is no longer current; INPUTS_CHANGED if it would change the inputs of a published split; INVALID_REASON for the
    reason; and everything that `splits.add_gold` raises.
    """
    check_manages_dataset(correction.split.dataset, by)
    reason = reason.strip()
    if not 1 <= len(reason) <= LONGEST:
        raise Refused(Code.INVALID_REASON, f"The reason has {len(reason)} characters; expected 1 to {LONGEST}.")
    if why_not := why_not_confirmed(correction):
        code = Code.INPUTS_CHANGED if correction.is_pending and correction.changes_inputs else Code.NOT_READY
        heading = "" if code is Code.INPUTS_CHANGED else "The correction was not confirmed"
        raise Refused(code, why_not, heading=heading)
    decision = {"decision": Decision.CONFIRMED, "decided_by": by, "publishes_count": publishes_count, "file": ""}

    def decide(gold: GoldVersion) -> None:
        """Mark the correction as confirmed by the new version `gold`, in the transaction that stores `gold`.

        Raises Refused CHANGED_MEANWHILE if the correction is no longer pending, or if another gold version was added
        meanwhile.
        """
        waiting = Correction.objects.filter(pk=correction.pk, decision=Decision.PENDING, state=State.DONE)
        if gold.number != correction.base.number + 1 or not waiting.update(
            **decision, gold=gold, decided_at=timezone.now()
        ):
            raise Refused(
                Code.CHANGED_MEANWHILE,
                "Another gold version was added, or this correction was confirmed or dropped, at the same time; check "
                "the split's gold versions.",
                heading="The correction was not confirmed",
            )
        AuditEntry.record("correction.confirmed", correction, by=by, gold=gold.number, **correction.counts)
        correction.refresh_from_db()

    proposed = correction.file
    with opened(proposed) as stored:
        file: File[bytes] = File(stored, name=correction.name)
        file.size = correction.bytes
        file.sha256 = correction.sha256  # type: ignore[attr-defined]  # as uploads carry it
        check_digest(stored, correction.sha256)
        gold = splits.add_gold(split=correction.split, file=file, reason=reason, by=by, within=decide)
    delete_after_commit(proposed)
    return gold


def why_not_confirmed(correction: Correction) -> str:
    """Return a sentence for the split's managers: why a correction cannot be confirmed; empty if it can be."""
    split = correction.split
    if not correction.is_pending:
        return f"This correction is {correction.get_decision_display()} and can no longer be confirmed."
    if split.current_gold != correction.base:
        return (
            "The gold was corrected after this file was uploaded; upload the file again to compare it with "
            "the current version."
        )
    if correction.changes_inputs and not split.is_draft:
        return (
            f"The split {split.name} is published, and this gold would change its inputs. A "
            "correction may change only answers; create a new split for other items."
        )
    if correction.state == State.REJECTED:
        return "The file was rejected; upload a valid gold file."
    if correction.state == State.FAILED:
        return "The comparison with the current gold version has failed; upload the file again."
    if correction.state != State.DONE:
        return "The comparison with the current gold version is not complete yet."
    return ""


@transaction.atomic
def drop(*, correction: Correction, by: User) -> None:
    """Drop a pending correction and delete its file.

    Raises Refused: NOT_POSSIBLE for a correction that was already confirmed or dropped or has expired,
    NOT_AN_ORGANISER.
    """
    check_manages_dataset(correction.split.dataset, by)
    locked = Correction.objects.select_for_update(of=("self",)).get(pk=correction.pk)
    if not locked.is_pending:
        raise Refused(
            Code.NOT_POSSIBLE,
            f"This correction is {locked.get_decision_display()} and can no longer be dropped.",
            heading="The correction was not dropped",
        )
    _end(locked, Decision.DROPPED, by=by)


def _end(correction: Correction, decision: str, *, by: User | None) -> None:
    """Set the decision DROPPED or EXPIRED on a pending correction; delete its file and changed items, keep its row.

    Does nothing if the correction is no longer pending. by: who decided; None: the server, when a correction expires.
    Call in a transaction.
    """
    at = timezone.now()
    if not Correction.objects.filter(pk=correction.pk, decision=Decision.PENDING).update(
        decision=decision, decided_at=at, decided_by=by, file=""
    ):
        return
    cancel_rows(Correction.objects.filter(pk=correction.pk), Reason.WITHDRAWN)
    correction.items.all().delete()
    delete_after_commit(correction.file)
    AuditEntry.record(
        f"correction.{decision}", correction, by=by, split=correction.split.name, gold=correction.base.number
    )


def sweep() -> int:
    """Expire corrections that have been pending for longer than PENDING_FOR; return their number."""
    old = Correction.objects.filter(decision=Decision.PENDING, expires_at__lte=db_clock.earliest())
    pks = list(old.values_list("pk", flat=True))
    for pk in pks:
        with transaction.atomic():
            _end(Correction.objects.select_for_update(of=("self",)).get(pk=pk), Decision.EXPIRED, by=None)
    return len(pks)
