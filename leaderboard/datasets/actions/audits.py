"""The audit of a split's gold: asked for at the desk, made by a worker of the scoring side, part by part.

A part is a job of the sandbox, and stored when it is told: a worker that dies loses one part, and who waits sees how
far it is. Whoever waits for a score goes first. What is stored quotes gold;
`leaderboard.datasets.queries.audit_results` says who reads what.
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
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.storage import check_digest, opened
from leaderboard.datasets.actions.datasets import check_manages
from leaderboard.evaluation import sandbox_client
from leaderboard.models import AuditEntry, GoldVersion, Reason, Split, SplitAudit, State, User
from leaderboard.work_queue.lease import Lease
from leaderboard.work_queue.work import NoAnswerError, Work

UNDER_WAY = (State.QUEUED, State.RUNNING)
MOST_TRAINS = sandbox_client.MOST_TABLES - 2
WAITING = SplitAudit.objects.select_related("gold__split__dataset")


def begin(*, split: Split, by: User) -> SplitAudit:
    """Queue an audit of the split's current gold beside all public gold of its dataset; one that is under way serves.

    Raises Refused: NOT_READY without gold, NOT_AN_ORGANISER.
    """
    check_manages(split.dataset, by)
    gold = split.current_gold
    if gold is None:
        raise Refused(
            Code.NOT_READY,
            f"The split {split.name} has no gold yet; there is nothing to audit.",
            heading="There is no gold yet",
        )
    under_way = gold.audits.filter(state__in=UNDER_WAY)
    at = timezone.now()
    try:
        with transaction.atomic():
            if (there := under_way.first()) is not None:
                return there
            made = SplitAudit.objects.create(
                gold=gold,
                inputs_sha256=split.inputs_sha256,
                options=split.options,
                requested_by=by,
                queued_at=at,
                rung_at=at,
            )
            made.trains.set(_public_gold(split))
            AuditEntry.record("audit.begun", made, by=by, split=split.name, gold=gold.number)
            WORK.enqueue(made)
            return made
    except IntegrityError:  # somebody else asked at the same moment
        return under_way.get()


def _public_gold(split: Split) -> list[GoldVersion]:
    """What everybody may have learned answers from: the current gold of the dataset's other splits with public gold."""
    others = split.dataset.splits.filter(gold_public=True).exclude(pk=split.pk).order_by("pk")
    return [gold for other in others if (gold := other.current_gold) is not None][:MOST_TRAINS]


def cancel(*, audit: SplitAudit, by: User) -> None:
    """End it where it is; what a worker still says of it is not heard. Raises Refused where it is over already."""
    check_manages(audit.gold.split.dataset, by)
    with transaction.atomic():
        ended = SplitAudit.objects.filter(pk=audit.pk, state__in=UNDER_WAY).update(
            state=State.CANCELLED, reason=Reason.WITHDRAWN, lease_until=None, finished_at=timezone.now()
        )
        if not ended:
            raise Refused(Code.NOT_CANCELLABLE, "This audit is over already.")
        AuditEntry.record("audit.cancelled", audit, by=by, split=audit.gold.split.name)


def _audit(lease: Lease[SplitAudit]) -> None:
    row = lease.row
    if row.gold.split.inputs_sha256 != row.inputs_sha256:
        raise NoAnswerError(Reason.SUPERSEDED)
    trains = list(row.trains.select_related("split").order_by("split", "pk"))
    told = list(row.parts)
    with _open(row, trains) as files:
        for name in NAMES[len(told) :]:
            answer = sandbox_client.audit_part(
                part=name,
                gold=row.gold,
                files=files,
                gold_name=_name(row.gold),
                train_names=[_name(train) for train in trains],
                options=row.options,
            )
            if told and answer.code_sha256 != row.code_sha256:
                # Half of it was told by another release, which may have looked otherwise.
                told.clear()
                _keep(lease, told, answer.code_sha256)
                raise sandbox_client.SandboxError("the audit was begun by another release, and begins again")
            told.append(_checked(answer))
            _keep(lease, told, answer.code_sha256)
    lease.finish(state=State.DONE, report=assembled(told), parts=[])


def _keep(lease: Lease[SplitAudit], told: list[dict[str, Any]], code: str) -> None:
    lease.row.code_sha256 = code
    lease.write(parts=told, code_sha256=code)


def _checked(answer: sandbox_client.Answer) -> dict[str, Any]:
    """Raises NoAnswerError where there is no report, ReportError for one that no sound job can have said."""
    if not answer.ok:
        raise NoAnswerError(answer.reason or Reason.BAD_GOLD)
    return dict(msgspec.to_builtins(answer.read(AuditPartReport).told))


@contextmanager
def _open(row: SplitAudit, trains: list[GoldVersion]) -> Iterator[dict[str, IO[bytes]]]:
    """The files of an audit, each as its row knows it."""
    golds = {"gold": row.gold} | {str(place): train for place, train in enumerate(trains)}
    with ExitStack() as stack:
        files = {}
        for name, gold in golds.items():
            files[name] = stack.enter_context(opened(gold.file))
            check_digest(files[name], gold.sha256)
        if row.inputs_sha256 and row.gold.split.inputs_public:
            files["inputs"] = stack.enter_context(opened(row.gold.split.inputs))
            check_digest(files["inputs"], row.inputs_sha256)
        yield files


def _name(gold: GoldVersion) -> str:
    """As findings call the file; the ending tells whether it is packed."""
    return f"{gold.split.name}.gold.jsonl" + (".gz" if str(gold.file.name).endswith(".gz") else "")


WORK = Work(name="audit_split", rows=WAITING, do=_audit, makes_way=True)
