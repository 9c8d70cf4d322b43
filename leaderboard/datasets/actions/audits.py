"""Audits of a split's gold: requested on the management pages, run part by part by an evaluation worker.

Each part is one sandbox job. The part's report is stored as soon as the job ends, so that a worker that dies loses only
one part and pages can show progress. Scoring has priority over audits. The stored report quotes gold;
`leaderboard.datasets.queries.audit_results` decides what managers and the public may read of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, Any

import msgspec
from django.db import IntegrityError, transaction
from django.utils import timezone

from evaluator.curation.audit.report import assembled
from evaluator.jobs.audit import NAMES, AuditPartReport
from leaderboard.core import db_clock
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_manages_dataset
from leaderboard.core.storage import check_digest, opened
from leaderboard.evaluation import sandbox_client
from leaderboard.models import ACTIVE, AuditEntry, GoldVersion, Reason, Split, SplitAudit, State, User
from leaderboard.work_queue.lease import Lease, cancel_rows
from leaderboard.work_queue.work import NotRetryableError, Urgency, Work

MAX_TRAIN_FILES = sandbox_client.MAX_FILES - 2
WAITING = SplitAudit.objects.select_related("gold__split__dataset")


def begin(*, split: Split, by: User) -> SplitAudit:
    """Queue an audit of a split's current gold. It also compares this gold with other public gold of the dataset.

    Returns the new audit, or that gold's audit that is already queued or running.
    Raises Refused: NOT_READY for a split without gold, NOT_AN_ORGANISER.
    """
    check_manages_dataset(split.dataset, by)
    gold = split.current_gold
    if gold is None:
        raise Refused(
            Code.NOT_READY,
            f"The split {split.name} has no gold yet; there is nothing to audit.",
            heading="There is no gold yet",
        )
    under_way = gold.audits.filter(state__in=ACTIVE)
    at = timezone.now()
    try:
        with transaction.atomic():
            if (existing := under_way.first()) is not None:
                return existing
            audit = SplitAudit.objects.create(
                gold=gold,
                inputs_sha256=split.inputs_sha256,
                options=split.options,
                requested_by=by,
                queued_at=at,
                enqueued_at=db_clock.now(),
            )
            audit.trains.set(_public_gold(split))
            AuditEntry.record("audit.begun", audit, by=by, split=split.name, gold=gold.number)
            WORK.enqueue(audit)
            return audit
    except IntegrityError:  # a concurrent request created it
        return under_way.get()


def _public_gold(split: Split) -> list[GoldVersion]:
    """Return the current public gold of the dataset's other splits, on which systems may have been trained.

    At most MAX_TRAIN_FILES gold versions are returned, those of the splits that were created first.
    """
    others = split.dataset.splits.filter(gold_public=True).exclude(pk=split.pk).order_by("pk")
    return [gold for other in others if (gold := other.current_gold) is not None][:MAX_TRAIN_FILES]


def cancel(*, audit: SplitAudit, by: User) -> None:
    """Cancel a queued or running audit; a worker's later report on the audit is ignored.

    Raises Refused: NOT_CANCELLABLE for an audit that has ended, NOT_AN_ORGANISER.
    """
    check_manages_dataset(audit.gold.split.dataset, by)
    with transaction.atomic():
        if not cancel_rows(SplitAudit.objects.filter(pk=audit.pk), Reason.WITHDRAWN):
            raise Refused(Code.NOT_CANCELLABLE, "This audit has already ended, so there is nothing to cancel.")
        AuditEntry.record("audit.cancelled", audit, by=by, split=audit.gold.split.name)


def _audit(lease: Lease[SplitAudit]) -> None:
    row = lease.row
    if row.gold.split.inputs_sha256 != row.inputs_sha256:
        raise NotRetryableError(Reason.SUPERSEDED)
    trains = list(row.trains.select_related("split").order_by("split", "pk"))
    parts = list(row.parts)
    with _open(row, trains) as files:
        for name in NAMES[len(parts) :]:
            answer = sandbox_client.audit_part(
                files,
                part=name,
                task=row.gold.split.dataset.task,
                options=row.options,
                gold_name=_name(row.gold),
                inputs_name=sandbox_client.INPUTS,
                train_names=[_name(train) for train in trains],
            )
            if parts and answer.code_sha256 != row.code_sha256:
                # Another release of the evaluator reported the earlier parts; its checks may have been different.
                parts.clear()
                _store_parts(lease, parts, answer.code_sha256)
                raise sandbox_client.SandboxError(
                    "the earlier parts of the audit were made by another release of the evaluator, so the audit starts "
                    "again from its first part"
                )
            parts.append(_read_part(answer))
            _store_parts(lease, parts, answer.code_sha256)
    lease.finish(state=State.DONE, report=assembled(parts), parts=[])


def _store_parts(lease: Lease[SplitAudit], parts: list[dict[str, Any]], code: str) -> None:
    lease.row.code_sha256 = code
    lease.write(parts=parts, code_sha256=code)


def _read_part(answer: sandbox_client.Answer) -> dict[str, Any]:
    """Return the report of one part of an audit from the sandbox's answer, as built-in types.

    Raises NotRetryableError if the job gave no report or refused the files, ReportError if the report is malformed.
    """
    if not answer.ok:
        raise NotRetryableError(answer.reason or Reason.BAD_GOLD)
    return dict(msgspec.to_builtins(answer.read(AuditPartReport).part))


@contextmanager
def _open(row: SplitAudit, trains: list[GoldVersion]) -> Iterator[dict[str, IO[bytes]]]:
    """Open the files of an audit, check them against the digests in the database, and yield them by key.

    The keys are those that the job `audit_part` expects: "gold", the index of each of `trains`, and "inputs" if
    they are public. Raises FileNotFoundError or AlteredError for a missing or altered file.
    """
    golds = {"gold": row.gold} | {str(index): train for index, train in enumerate(trains)}
    with ExitStack() as stack:
        files = {}
        for name, gold in golds.items():
            files[name] = stack.enter_context(opened(gold.file, sha256=gold.sha256))
            check_digest(files[name], gold.sha256)
        if row.inputs_sha256 and row.gold.split.inputs_public:
            files["inputs"] = stack.enter_context(opened(row.gold.split.inputs, sha256=row.gold.split.inputs_sha256))
            check_digest(files["inputs"], row.inputs_sha256)
        yield files


def _name(gold: GoldVersion) -> str:
    """Return the file name that findings cite for a gold version; its suffix shows whether the file is compressed."""
    return f"{gold.split.name}.gold.jsonl" + (".gz" if str(gold.file.name).endswith(".gz") else "")


WORK = Work(name="audit_split", rows=WAITING, do=_audit, urgency=Urgency.CURATION)
