"""A split's way from a draft to what everybody may read, and to what is taken out of use. It never goes back."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from leaderboard.core.refusal import Code, Refused
from leaderboard.datasets.actions.datasets import check_manages
from leaderboard.datasets.queries import audit_results
from leaderboard.models import AuditAnswer, AuditEntry, Split, SplitAudit, State, User

LONGEST = 4000


@transaction.atomic
def publish(*, split: Split, by: User) -> Split:
    """Show a draft to everybody, with the audit of its gold and what was answered to it.

    Held-out gold needs an audit without errors whose warnings are all answered; public gold needs none. Raises
    Refused: NOT_READY with what is in the way, NOT_AN_ORGANISER.
    """
    check_manages(split.dataset, by)
    # A gold version that comes at this moment waits for us, or we see it.
    found = Split.objects.select_for_update().get(pk=split.pk)
    if why_not := audit_results.why_not_published(found):
        heading = "The split was not published" if found.is_draft else "The split is no draft"
        raise Refused(Code.NOT_READY, why_not, heading=heading)
    verdict = audit_results.verdict(found)
    audit = verdict.audit if verdict.is_passed else None
    if audit is not None:
        SplitAudit.objects.filter(pk=audit.pk).update(accepted_at=timezone.now(), accepted_by=by)
    return _published(split, by=by, audit=audit.pk if audit else None)


@transaction.atomic
def publish_unaudited(*, split: Split, by: User) -> Split:
    """The same at an operator's word, as imports do: no audit is asked for, and its page says so. For curators."""
    if not by.is_curator:
        raise Refused(Code.NOT_AN_ORGANISER, "Only curators may publish a split without an audit.")
    found = Split.objects.select_for_update().get(pk=split.pk)
    if not found.is_draft:
        split.refresh_from_db()
        return split
    if not found.inputs:
        raise Refused(
            Code.NOT_READY,
            f"The split {found.name} has no data yet; upload its gold.",
            heading="The split was not published",
        )
    return _published(split, by=by, audit=None)


def _published(split: Split, *, by: User, audit: int | None) -> Split:
    Split.objects.filter(pk=split.pk).update(state=Split.State.PUBLISHED, published_at=timezone.now())
    split.refresh_from_db()
    told = {"audit": audit, "unaudited": audit is None, "inputs_sha256": split.inputs_sha256}
    AuditEntry.record("split.published", split, by=by, **told)
    return split


@transaction.atomic
def retire(*, split: Split, reason: str, by: User) -> Split:
    """Take a published split out of use: its phases take nothing more, its boards and files stay to be read.

    Everybody reads the reason. Raises Refused: NOT_READY for a split that is not published, INVALID_NAME.
    """
    check_manages(split.dataset, by)
    reason = reason.strip()
    if not 1 <= len(reason) <= 500:
        raise Refused(Code.INVALID_NAME, f"The reason has {len(reason)} characters; expected 1 to 500.")
    # What is being received at this moment holds the split's row: it is counted in, or it sees that we were here.
    found = Split.objects.select_for_update().get(pk=split.pk)
    if not found.is_published:
        raise Refused(
            Code.NOT_READY,
            f"The split {found.name} is {found.state}; only a published one can be retired.",
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
    """Keep what somebody says to a finding, in the place of what was said before; an empty text takes it back (None).

    Raises Refused: NOT_READY for an audit that is not over, or is public, INVALID_NAME for what cannot be answered.
    """
    check_manages(audit.gold.split.dataset, by)
    text = text.strip()
    found = SplitAudit.objects.select_for_update().get(pk=audit.pk)
    if found.state != State.DONE or found.accepted_at is not None:
        raise Refused(
            Code.NOT_READY,
            "Answers are given once an audit is done, and stay once it is public.",
            heading="The answers were not kept",
        )
    told = found.report["findings"]
    if not 0 <= finding < len(told) or told[finding]["severity"] not in audit_results.TO_ANSWER:
        raise Refused(Code.INVALID_NAME, f"Finding {finding} is none that is answered; expected an error or a warning.")
    if len(text) > LONGEST:
        raise Refused(Code.INVALID_NAME, f"The answer has {len(text)} characters; expected at most {LONGEST}.")
    there = AuditAnswer.objects.filter(audit=audit, finding=finding).first()
    if there is not None and there.text == text:
        return there
    AuditAnswer.objects.filter(audit=audit, finding=finding).delete()
    AuditEntry.record("audit.answered", audit, by=by, finding=finding, code=told[finding]["code"])
    if not text:
        return None
    return AuditAnswer.objects.create(audit=audit, finding=finding, text=text, by=by, at=timezone.now())


@transaction.atomic
def show_audit(*, audit: SplitAudit, by: User) -> SplitAudit:
    """Make an audit of a published split's gold public, as of a correction. Errors and warnings need their answers.

    Raises Refused: NOT_READY with what is in the way.
    """
    split = audit.gold.split
    check_manages(split.dataset, by)
    found = SplitAudit.objects.select_for_update().get(pk=audit.pk)
    if split.is_draft:
        raise Refused(
            Code.NOT_READY,
            f"The split {split.name} is a draft: its audit becomes public with it.",
            heading="The audit was not made public",
        )
    if found.state != State.DONE or found.accepted_at is not None:
        raise Refused(
            Code.NOT_READY,
            "Only an audit that is done, and not public yet, can be made public.",
            heading="The audit was not made public",
        )
    waiting = sum(
        one.severity in audit_results.TO_ANSWER and one.answer is None for one in audit_results.findings(found)
    )
    if waiting:
        raise Refused(
            Code.NOT_READY,
            f"{waiting} of its errors and warnings have no answer yet.",
            heading="The audit was not made public",
        )
    SplitAudit.objects.filter(pk=audit.pk).update(accepted_at=timezone.now(), accepted_by=by)
    AuditEntry.record("audit.published", audit, by=by, split=split.name, gold=audit.gold.number)
    audit.refresh_from_db()
    return audit
