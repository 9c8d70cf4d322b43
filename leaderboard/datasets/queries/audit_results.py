"""What is read of a split's audits: all of it by those who manage it, and by everybody what quotes no gold.

A finding's sentence and numbers may quote hidden texts and labels; its code and gravity do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from leaderboard.models import AuditAnswer, GoldVersion, Split, SplitAudit, State

TO_ANSWER = ("error", "warning")


@dataclass(frozen=True)
class Found:
    """One finding of a report. place: from 0. told: as the report has it, with all that it quotes."""

    place: int
    told: dict[str, Any]
    answer: AuditAnswer | None

    @property
    def severity(self) -> str:
        return str(self.told["severity"])

    @property
    def code(self) -> str:
        return str(self.told["code"])


@dataclass(frozen=True)
class Digest:
    """What everybody may know of one finding."""

    severity: str
    code: str
    answer: AuditAnswer | None


@dataclass(frozen=True)
class Verdict:
    """How far the audit of a split's current gold has come. audit: the last that is done. open: findings that wait."""

    gold: GoldVersion | None
    audit: SplitAudit | None
    errors: int
    unanswered: int

    @property
    def is_passed(self) -> bool:
        """Audited: no error, and every warning is answered."""
        return self.audit is not None and not self.errors and not self.unanswered


def findings(audit: SplitAudit) -> list[Found]:
    """Gravest first, each with its answer. For those who manage the split."""
    answers = {answer.finding: answer for answer in audit.answers.select_related("by")}
    return [Found(place, told, answers.get(place)) for place, told in enumerate(audit.report.get("findings", []))]


def digest(audit: SplitAudit) -> list[Digest]:
    """Its findings without a word that could quote gold, in their order."""
    return [Digest(one.severity, one.code, one.answer) for one in findings(audit)]


def last_done(gold: GoldVersion) -> SplitAudit | None:
    return gold.audits.filter(state=State.DONE).order_by("-finished_at", "-pk").first()


def verdict(split: Split) -> Verdict:
    gold = split.current_gold
    audit = last_done(gold) if gold is not None else None
    found = findings(audit) if audit is not None else []
    return Verdict(
        gold,
        audit,
        errors=sum(one.severity == "error" for one in found),
        unanswered=sum(one.severity == "warning" and one.answer is None for one in found),
    )


def why_not_published(split: Split) -> str:
    """What is in the way of publishing a draft; empty: nothing."""
    if not split.is_draft:
        return f"The split {split.name} is {split.state} already."
    if not split.inputs:
        return f"The split {split.name} has no data yet; upload its gold."
    if split.gold_public or split.current_gold is None:
        # Whoever can read the answers can audit them; and what is not here cannot be audited.
        return ""
    found = verdict(split)
    assert found.gold is not None
    if found.audit is None:
        return f"Gold version {found.gold.number} of {split.name} has not been audited; run the audit first."
    if found.errors:
        return f"The audit found {_count(found.errors, 'error')}; correct the gold and audit it again."
    if found.unanswered:
        return f"{_count(found.unanswered, 'warning')} of the audit must be answered in writing first."
    return ""


def public_audits(split: Split) -> list[SplitAudit]:
    """Those that were made public, newest gold first."""
    rows = SplitAudit.objects.filter(gold__split=split, accepted_at__isnull=False)
    return list(rows.select_related("gold").order_by("-gold__number", "-accepted_at"))


def _count(n: int, what: str) -> str:
    return f"{n} {what}{'s' if n != 1 else ''}"
