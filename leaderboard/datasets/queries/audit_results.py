"""Results of a split's audits: in full for the split's managers, without quotes of gold for everybody else.

The text and numbers of a finding may quote hidden texts and labels; the finding's code and severity never do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from leaderboard.models import AuditAnswer, GoldVersion, Split, SplitAudit, State

TO_ANSWER = ("error", "warning")


@dataclass(frozen=True)
class Finding:
    """One finding of an audit with the managers' answer to it.

    index: the finding's position in the audit's report, from 0. entry: the finding as in the report, which may quote
    gold. answer: None if nobody has answered the finding.
    """

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
    """Public part of a finding, without quotes of gold: severity, code and the managers' answer, if there is one."""

    severity: str
    code: str
    answer: AuditAnswer | None


@dataclass(frozen=True)
class Verdict:
    """Outcome of the latest completed audit of a split's current gold.

    gold: the current gold; None if the split has none. audit: None if no audit of that gold is complete. errors: number
    of errors that the audit found. unanswered: number of its warnings without an answer.
    """

    gold: GoldVersion | None
    audit: SplitAudit | None
    errors: int
    unanswered: int

    @property
    def is_passed(self) -> bool:
        """True if an audit is complete that found no errors, and all its warnings have been answered."""
        return self.audit is not None and not self.errors and not self.unanswered


def findings(audit: SplitAudit) -> list[Finding]:
    """Return an audit's findings with their answers, most severe first. Only managers of the split may see them."""
    answers = {answer.finding: answer for answer in audit.answers.select_related("by")}
    return [Finding(index, entry, answers.get(index)) for index, entry in enumerate(audit.report.get("findings", []))]


def digest(audit: SplitAudit) -> list[PublicFinding]:
    """Return a summary of an audit for the public: its findings without quotes of gold, in the order of `findings`."""
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
    """Return a sentence that says why a split cannot be published; empty if it can be published."""
    if not split.is_draft:
        return f"The split {split.name} is already {split.state}."
    if not split.inputs:
        return f"The split {split.name} has no data yet; upload its gold."
    if split.gold_public or split.current_gold is None:
        # Anybody can audit public gold, and a split that has only inputs has no gold to audit.
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
    """Return the published audits of a split, those of the newest gold version first, then the last published first."""
    rows = SplitAudit.objects.filter(gold__split=split, accepted_at__isnull=False)
    return list(rows.select_related("gold").order_by("-gold__number", "-accepted_at"))


def _count(n: int, noun: str) -> str:
    return f"{n} {noun}{'s' if n != 1 else ''}"
