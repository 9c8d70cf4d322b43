"""Lifecycle of a split: draft, then published, then retired. No transition is reversible."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from leaderboard.core import row_locks
from leaderboard.core.refusal import Code, Refused
from leaderboard.core.rights import check_is_curator, check_manages_dataset
from leaderboard.datasets.queries import audit_results
from leaderboard.models import AuditAnswer, AuditEntry, Split, SplitAudit, State, User

LONGEST = 4000


@transaction.atomic
def publish(*, split: Split, by: User) -> Split:
    """Publish a draft split, together with the latest audit of its gold and the managers' answers to the findings.

    Hidden gold needs an audit without errors and with all warnings answered; public gold, or a split of inputs only,
    needs no audit. Raises Refused: NOT_READY with the reason that `audit_results.why_not_published` returns,
    NOT_AN_ORGANISER.
    """
    check_manages_dataset(split.dataset, by)
    # With this lock, a concurrent upload of gold either waits or has been committed and is seen here.
    locked = row_locks.lock_split(split.pk)
    if why_not := audit_results.why_not_published(locked):
        heading = "The split was not published" if locked.is_draft else "The split is not a draft"
        raise Refused(Code.NOT_READY, why_not, heading=heading)
    verdict = audit_results.verdict(locked)
    audit = verdict.audit if verdict.is_passed else None
    if audit is not None:
        SplitAudit.objects.filter(pk=audit.pk).update(accepted_at=timezone.now(), accepted_by=by)
    return _publish(split, by=by, audit=audit.pk if audit else None)


@transaction.atomic
def publish_unaudited(*, split: Split, by: User) -> Split:
    """Publish a split without an audit, as imports do; the split's page says that it was not audited. Curators only.

    A split that is not a draft is returned unchanged. Raises Refused: NOT_AN_ORGANISER unless `by` is a curator,
    NOT_READY for a split without data.
    """
    check_is_curator(by, to="publish a split without an audit")
    locked = row_locks.lock_split(split.pk)
    if not locked.is_draft:
        split.refresh_from_db()
        return split
    if not locked.inputs:
        raise Refused(
            Code.NOT_READY,
            f"The split {locked.name} has no data yet; upload its gold.",
            heading="The split was not published",
        )
    return _publish(split, by=by, audit=None)


def _publish(split: Split, *, by: User, audit: int | None) -> Split:
    Split.objects.filter(pk=split.pk).update(state=Split.State.PUBLISHED, published_at=timezone.now())
    split.refresh_from_db()
    details = {"audit": audit, "unaudited": audit is None, "inputs_sha256": split.inputs_sha256}
    AuditEntry.record("split.published", split, by=by, **details)
    return split


@transaction.atomic
def retire(*, split: Split, reason: str, by: User) -> Split:
    """Take a published split out of use: its phases accept no submissions, its boards and files stay readable.

    reason: public, 1 to 500 characters. Raises Refused: NOT_POSSIBLE for a split that is not published, INVALID_REASON
    for the reason, NOT_AN_ORGANISER.
    """
    check_manages_dataset(split.dataset, by)
    reason = reason.strip()
    if not 1 <= len(reason) <= 500:
        raise Refused(Code.INVALID_REASON, f"The reason has {len(reason)} characters; expected 1 to 500.")
    # Accepting a submission locks the split's row too: a concurrent submission is complete, or sees the retired split.
    locked = row_locks.lock_split(split.pk)
    if not locked.is_published:
        raise Refused(
            Code.NOT_POSSIBLE,
            f"The split {locked.name} is {locked.state}; only a published split can be retired.",
            heading="The split was not retired",
        )
    Split.objects.filter(pk=split.pk).update(
        state=Split.State.RETIRED, retired_at=timezone.now(), retired_reason=reason
    )
    split.refresh_from_db()
    AuditEntry.record("split.retired", split, by=by, reason=reason)
    return split


@transaction.atomic
def answer(*, audit: SplitAudit, finding: int, text: str, by: User) -> AuditAnswer | None:
    """Store a manager's answer to a finding of an audit, replacing an earlier answer; an empty text deletes the answer.

    finding: index of the finding in the report, from 0. Returns the stored answer, or None for an empty text. Raises
    Refused: NOT_POSSIBLE for an audit that is not done or already public; INVALID_VALUE for an index without a finding,
    for a finding that is neither an error nor a warning, or for a text of more than LONGEST characters;
    NOT_AN_ORGANISER.
    """
    check_manages_dataset(audit.gold.split.dataset, by)
    text = text.strip()
    locked = SplitAudit.objects.select_for_update().get(pk=audit.pk)
    if locked.state != State.DONE or locked.accepted_at is not None:
        raise Refused(
            Code.NOT_POSSIBLE,
            f"This audit is {_state_of(locked)}; only an audit that is done and not yet public can be answered.",
            heading="The answers were not saved",
        )
    rows = locked.report["findings"]
    if not 0 <= finding < len(rows):
        raise Refused(Code.INVALID_VALUE, f"The audit has {len(rows)} findings, and none with the index {finding}.")
    if rows[finding]["severity"] not in audit_results.TO_ANSWER:
        raise Refused(
            Code.INVALID_VALUE,
            f"Finding {finding} is of the severity {rows[finding]['severity']}; expected an error or a warning, which "
            "can be answered.",
        )
    if len(text) > LONGEST:
        raise Refused(Code.INVALID_VALUE, f"The answer has {len(text)} characters; expected at most {LONGEST}.")
    existing = AuditAnswer.objects.filter(audit=audit, finding=finding).first()
    if existing is not None and existing.text == text:
        return existing
    AuditAnswer.objects.filter(audit=audit, finding=finding).delete()
    AuditEntry.record("audit.answered", audit, by=by, finding=finding, code=rows[finding]["code"])
    if not text:
        return None
    return AuditAnswer.objects.create(audit=audit, finding=finding, text=text, by=by, at=timezone.now())


def _state_of(audit: SplitAudit) -> str:
    return "already public" if audit.accepted_at is not None else audit.state


@transaction.atomic
def show_audit(*, audit: SplitAudit, by: User) -> SplitAudit:
    """Publish an audit of a split that is not a draft, such as the audit of corrected gold, with the managers' answers.

    Raises Refused: NOT_POSSIBLE for an audit that is not done or already public; NOT_READY for a draft, or one with an
    error or warning that has no answer; NOT_AN_ORGANISER.
    """
    split = audit.gold.split
    check_manages_dataset(split.dataset, by)
    locked = SplitAudit.objects.select_for_update().get(pk=audit.pk)
    if split.is_draft:
        raise Refused(
            Code.NOT_READY,
            f"The split {split.name} is a draft: its audit becomes public when the split is published.",
            heading="The audit was not made public",
        )
    if locked.state != State.DONE or locked.accepted_at is not None:
        raise Refused(
            Code.NOT_POSSIBLE,
            f"This audit is {_state_of(locked)}; only an audit that is done and not yet public can be made public.",
            heading="The audit was not made public",
        )
    waiting = sum(
        finding.severity in audit_results.TO_ANSWER and finding.answer is None
        for finding in audit_results.findings(locked)
    )
    if waiting:
        raise Refused(
            Code.NOT_READY,
            f"{waiting} of the audit's errors and warnings have no answer yet; answer them first.",
            heading="The audit was not made public",
        )
    SplitAudit.objects.filter(pk=audit.pk).update(accepted_at=timezone.now(), accepted_by=by)
    AuditEntry.record("audit.published", audit, by=by, split=split.name, gold=audit.gold.number)
    audit.refresh_from_db()
    return audit
