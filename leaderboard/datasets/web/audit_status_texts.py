"""Texts for the status of a split's audit: its parts, its progress, and why it failed."""

from __future__ import annotations

from dataclasses import dataclass

from evaluator.jobs.audit import NAMES
from leaderboard.models import Reason, SplitAudit, State

ASK_AGAIN = 1500
"""Interval in milliseconds after which the page asks for the progress again."""
PARTS = {
    "sizes": "sizes and gold consistency",
    "balance": "labels and groups",
    "duplicates": "duplicates",
    "overlaps": "leakage from public gold",
    "cues": "label cues",
    "trivial": "trivial baselines",
    "tells": "ids, order and columns",
    "agreement": "other checks",
}
FAILED = {
    Reason.TIME: "a part of it exceeded the server's time limit",
    Reason.MEMORY: "a part of it exceeded the server's memory limit",
    Reason.OUTPUT: "its report is larger than the limit",
    Reason.BAD_GOLD: "the gold, or the public gold compared with it, cannot be read",
    Reason.SUPERSEDED: "the split's data were replaced while it was queued",
    Reason.EXIT: "it stopped with an internal error",
    Reason.BAD_REPORT: "its report is malformed",
}


@dataclass(frozen=True)
class AuditProgress:
    """Progress of an audit.

    done: number of completed parts. of: number of all parts. doing: what the current part checks, such as
    "duplicates"; empty at the end. why: text that says why the audit failed or waits, empty otherwise.
    """

    audit: SplitAudit
    done: int
    of: int
    doing: str
    why: str

    @property
    def ask_again(self) -> int | None:
        return None if self.audit.is_over else ASK_AGAIN


def audit_progress(audit: SplitAudit) -> AuditProgress:
    done = len(NAMES) if audit.state == State.DONE else len(audit.parts)
    doing = PARTS[NAMES[done]] if done < len(NAMES) else ""
    why = FAILED.get(Reason(audit.reason), Reason(audit.reason).label) if audit.reason else ""
    return AuditProgress(audit, done, len(NAMES), doing, why)
