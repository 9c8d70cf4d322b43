"""Results of a split's audits: in full for its managers, without quotes of gold for everybody.

A finding's text and numbers may quote hidden texts and labels; its code and severity do not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from leaderboard.models import AuditAnswer, GoldVersion, Split, SplitAudit, State

TO_ANSWER = ("error", "warning")


@dataclass(frozen=True)
class Finding:
    """One finding of a report. place: index from 0. told: its entry in the report, which may quote gold."""

    index: int
    entry: dict[str, Any]
    answer: AuditAnswer | None

    @property
    def severity(self) -> str:
        return str(self.entry["severity"])

    @property
    def code(self) -> str:
        return str(self.entry["code"])


@dataclass(frozen=True)
class PublicFinding:
    """Public part of a finding."""

    severity: str
    code: str
    answer: AuditAnswer | None


@dataclass(frozen=True)
class Verdict:
    """Outcome of the audit of a split's current gold. audit: the latest completed. unanswered: number of warnings."""

    gold: GoldVersion | None
    audit: SplitAudit | None
    errors: int
    unanswered: int

    @property
    def is_passed(self) -> bool:
        """True for an audit without errors and with all warnings answered."""
        return self.audit is not None and not self.errors and not self.unanswered


def findings(audit: SplitAudit) -> list[Finding]:
    """Return the findings with their answers, most severe first. For managers of the split."""
    answers = {answer.finding: answer for answer in audit.answers.select_related("by")}
    return [Finding(index, entry, answers.get(index)) for index, entry in enumerate(audit.report.get("findings", []))]


def digest(audit: SplitAudit) -> list[PublicFinding]:
    """Return the public part of each finding, in the same order."""
    return [PublicFinding(finding.severity, finding.code, finding.answer) for finding in findings(audit)]


def last_done(gold: GoldVersion) -> SplitAudit | None:
    return gold.audits.filter(state=State.DONE).order_by("-finished_at", "-pk").first()


def verdict(split: Split) -> Verdict:
    gold = split.current_gold
    audit = last_done(gold) if gold is not None else None
    rows = findings(audit) if audit is not None else []
    return Verdict(
        gold,
        audit,
        errors=sum(finding.severity == "error" for finding in rows),
        unanswered=sum(finding.severity == "warning" and finding.answer is None for finding in rows),
    )


def why_not_published(split: Split) -> str:
    """Return why a draft cannot be published; empty if it can be."""
    if not split.is_draft:
        return f"The split {split.name} is already {split.state}."
    if not split.inputs:
        return f"The split {split.name} has no data yet; upload its gold."
    if split.gold_public or split.current_gold is None:
        # Anybody can audit public gold; and gold that is not on the server cannot be audited.
        return ""
    current = verdict(split)
    assert current.gold is not None
    if current.audit is None:
        return f"Gold version {current.gold.number} of {split.name} has not been audited; run the audit first."
    if current.errors:
        return f"The audit found {_count(current.errors, 'error')}; correct the gold and audit it again."
    if current.unanswered:
        return f"{_count(current.unanswered, 'warning')} of the audit must be answered first."
    return ""


def public_audits(split: Split) -> list[SplitAudit]:
    """Return the published audits, newest gold first."""
    rows = SplitAudit.objects.filter(gold__split=split, accepted_at__isnull=False)
    return list(rows.select_related("gold").order_by("-gold__number", "-accepted_at"))


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' if n != 1 else ''}"
