"""Corrections of gold in two steps: an upload that is kept and laid beside the version in force, and a word on it.

The laying beside reads both, so a worker of the scoring side asks the sandbox for it (docs/adr/0021). Nothing counts
before somebody has read what changes, given the reason and confirmed; what nobody confirms goes away by itself.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta
from functools import partial
from typing import Any

from django.core.files import File
from django.db import transaction
from django.utils import timezone

from leaderboard.core.refusal import Code, Refused
from leaderboard.core.storage import check_digest, opened
from leaderboard.core.uploads import sha256_of
from leaderboard.datasets.actions import datasets, gold_diffs, splits
from leaderboard.datasets.actions.gold_validation import prepare
from leaderboard.models import AuditEntry, Correction, GoldVersion, Reason, Split, State, User

Fate = Correction.Fate
KEPT = timedelta(days=7)
"""How long an upload waits for a word."""
LONGEST = 1000
UNDER_WAY = (State.QUEUED, State.RUNNING)


def propose(*, split: Split, file: File[bytes], by: User) -> Correction:
    """Keep a checked gold file until somebody confirms or drops it; one that waits already makes way.

    Raises Refused: INVALID_GOLD with the lines at fault, GOLD_UNCHANGED for a file that is a version of this split
    already, NOT_READY for a split without gold, REFEREE_AWAY, NOT_AN_ORGANISER. Nothing is left behind then.
    """
    datasets.check_manages(split.dataset, by)
    base = split.current_gold
    if base is None:
        raise Refused(
            Code.NOT_READY,
            f"The split {split.name} has no gold yet; there is nothing to correct.",
            heading="There is no gold yet",
        )
    digest = sha256_of(file)
    splits.check_is_another(split, digest)
    name = (file.name or "gold.jsonl").rpartition("/")[2][-255:]
    prepared = prepare(split=split, file=file, name=name)
    at = timezone.now()
    made = Correction(
        split=split,
        base=base,
        name=name,
        sha256=digest,
        bytes=file.size,
        inputs_sha256=hashlib.sha256(prepared.inputs).hexdigest(),
        created_by=by,
        queued_at=at,
        rung_at=at,
        expires_at=at + KEPT,
    )
    file.seek(0)
    made.file.save("gold.jsonl.gz" if name.endswith(".gz") else "gold.jsonl", file, save=False)
    try:
        with transaction.atomic():
            Split.objects.select_for_update().get(pk=split.pk)
            for earlier in split.corrections.filter(fate=Fate.PENDING):
                _end(earlier, Fate.DROPPED, by=by)
            made.save(force_insert=True)
            AuditEntry.record("correction.proposed", made, by=by, split=split.name, gold=base.number, sha256=digest)
            gold_diffs.WORK.enqueue(made)
    except BaseException:
        made.file.storage.delete(str(made.file.name))
        raise
    return made


def confirm(*, correction: Correction, reason: str, tells_count: bool, by: User) -> GoldVersion:
    """Make it the split's next gold version; each phase on the split is scored again.

    tells_count: everybody reads how many items changed; of public gold everybody can count them anyway. Raises Refused:
    NOT_READY where it was decided already, is not laid beside yet, or gold was corrected since; INPUTS_CHANGED,
    INVALID_NAME for a reason that is none, and what `splits.add_gold` refuses.
    """
    datasets.check_manages(correction.split.dataset, by)
    reason = reason.strip()
    if not 1 <= len(reason) <= LONGEST:
        raise Refused(Code.INVALID_NAME, f"The reason has {len(reason)} characters; expected 1 to {LONGEST}.")
    if why_not := why_not_confirmed(correction):
        code = Code.INPUTS_CHANGED if correction.is_pending and correction.changes_inputs else Code.NOT_READY
        heading = "" if code is Code.INPUTS_CHANGED else "The correction was not confirmed"
        raise Refused(code, why_not, heading=heading)
    told = {"fate": Fate.CONFIRMED, "decided_by": by, "tells_count": tells_count, "file": ""}

    def decide(gold: GoldVersion) -> None:
        """In the transaction that keeps the gold, under its split's lock."""
        waiting = Correction.objects.filter(pk=correction.pk, fate=Fate.PENDING, state=State.DONE)
        if gold.number != correction.base.number + 1 or not waiting.update(
            **told, gold=gold, decided_at=timezone.now()
        ):
            raise Refused(
                Code.NOT_READY,
                "Somebody else was faster; look at the versions that are there now.",
                heading="The correction was not confirmed",
            )
        AuditEntry.record("correction.confirmed", correction, by=by, gold=gold.number, **correction.counts)

    with opened(correction.file) as stored:
        file: File[bytes] = File(stored, name=correction.name)
        file.size = correction.bytes
        file.sha256 = correction.sha256  # type: ignore[attr-defined]  # as an upload has it
        check_digest(stored, correction.sha256)
        gold = splits.add_gold(split=correction.split, file=file, reason=reason, by=by, within=decide)
    correction.file.storage.delete(str(correction.file.name))
    correction.refresh_from_db()
    return gold


def why_not_confirmed(correction: Correction) -> str:
    """What is in the way of confirming it, for those who manage the split; empty: nothing."""
    split = correction.split
    if not correction.is_pending:
        return f"This correction is {correction.get_fate_display()}; nothing is left to decide."
    if split.current_gold != correction.base:
        return "The gold was corrected since this file was uploaded; upload it again to see what it changes."
    if correction.changes_inputs and not split.is_draft:
        return (
            f"The split {split.name} is published, and this gold would change its inputs. A correction may change "
            "answers only; other items need a split of their own."
        )
    if correction.state != State.DONE:
        return "It is not laid beside the version in force yet."
    return ""


@transaction.atomic
def drop(*, correction: Correction, by: User) -> None:
    """Forget the file; nothing of it counts. Raises Refused NOT_READY where it was decided already."""
    datasets.check_manages(correction.split.dataset, by)
    found = Correction.objects.select_for_update(of=("self",)).get(pk=correction.pk)
    if not found.is_pending:
        raise Refused(
            Code.NOT_READY,
            f"This correction is {found.get_fate_display()}; nothing is left to drop.",
            heading="The correction was not dropped",
        )
    _end(found, Fate.DROPPED, by=by)


def _end(found: Correction, fate: str, *, by: User | None) -> None:
    """Call in a transaction. Its file and items go; that it was there stays."""
    at = timezone.now()
    if not Correction.objects.filter(pk=found.pk, fate=Fate.PENDING).update(
        fate=fate, decided_at=at, decided_by=by, file=""
    ):
        return
    over: dict[str, Any] = {"state": State.CANCELLED, "reason": Reason.WITHDRAWN, "lease_until": None}
    Correction.objects.filter(pk=found.pk, state__in=UNDER_WAY).update(**over, finished_at=at)
    found.items.all().delete()
    transaction.on_commit(partial(found.file.storage.delete, str(found.file.name)))
    AuditEntry.record(f"correction.{fate}", found, by=by, split=found.split.name, gold=found.base.number)


def sweep() -> int:
    """Forget what waited too long for a word; how many."""
    old = Correction.objects.filter(fate=Fate.PENDING, expires_at__lte=timezone.now())
    pks = list(old.values_list("pk", flat=True))
    for pk in pks:
        with transaction.atomic():
            _end(Correction.objects.select_for_update(of=("self",)).get(pk=pk), Fate.EXPIRED, by=None)
    return len(pks)
