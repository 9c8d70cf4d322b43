"""How an audit of a split is told on pages: its parts, how far it is, why it failed, what its codes say."""

from __future__ import annotations

from dataclasses import dataclass

from evaluator.audit_job import NAMES
from leaderboard.models import Reason, SplitAudit, State

ASK_AGAIN = 1500
"""Milliseconds until the page asks again."""
PARTS = {
    "sizes": "sizes, and what gold must be like",
    "balance": "labels and groups",
    "duplicates": "duplicates",
    "overlaps": "what public gold tells",
    "cues": "words that give labels away",
    "trivial": "systems that do not solve the task",
    "tells": "ids, order and columns",
    "agreement": "the rest",
}
FAILED = {
    Reason.TIME: "a part of it took longer than the server allows",
    Reason.MEMORY: "a part of it took more memory than the server allows",
    Reason.OUTPUT: "it told more than a report may hold",
    Reason.BAD_GOLD: "the gold, or the public gold beside it, does not read",
    Reason.SUPERSEDED: "the split's data were replaced while it waited",
    Reason.EXIT: "it stopped with an error of ours",
    Reason.BAD_REPORT: "its report was not sound",
}
CODES = {
    "duplicates-disagree": "the same question stands there with different answers",
    "duplicates-in-other-groups": "a question stands in several groups",
    "duplicates-in-groups": "a question stands in its group more than once",
    "near-duplicates": "texts in different groups are nearly the same",
    "leakage-simple": "public gold has lines of the split to the letter",
    "leakage-basic": "public gold has lines of the split in the same words",
    "leakage-thorough": "public gold has lines of the split in other words",
    "pairs-in-training": "subjects and objects stand together in public gold",
    "facts-in-training": "facts of the split stand in public gold",
    "one-label": "a slice has one label",
    "uneven-labels": "one label is most of a slice",
    "unbalanced-origin": "an origin is not balanced though the whole is",
    "one-large-group": "one group has most of the lines",
    "groups-share-claims": "claims stand in more than one group",
    "few-groups": "slices have few groups",
    "wide-intervals": "slices will have wide intervals",
    "one-sided-words": "frequent words have nearly always one label",
    "trivial-system": "a system that does not solve the task scores above chance",
    "inputs-hold-gold": "the inputs hold fields of the gold",
    "inputs-without-gold": "inputs are not in the gold",
    "gold-without-inputs": "gold is not in the inputs",
    "inputs-differ": "inputs differ from what the server would write",
}
TELLS = {"order": "the order of lines", "ids": "the ids", "column": "a column"}


@dataclass(frozen=True)
class Followed:
    """How far an audit is. done, of: parts. doing: what it is at; why: why it failed, in words."""

    audit: SplitAudit
    done: int
    of: int
    doing: str
    why: str

    @property
    def ask_again(self) -> int | None:
        return None if self.audit.is_over else ASK_AGAIN


def following(audit: SplitAudit) -> Followed:
    done = len(NAMES) if audit.state == State.DONE else len(audit.parts)
    doing = PARTS[NAMES[done]] if done < len(NAMES) else ""
    why = FAILED.get(Reason(audit.reason), Reason(audit.reason).label) if audit.reason else ""
    return Followed(audit, done, len(NAMES), doing, why)


def told(code: str) -> str:
    """A finding's code in words that quote no gold; empty for one that has none."""
    kind, _, rest = code.partition("-")
    if kind in TELLS and rest.startswith("tell"):
        return f"{TELLS[kind]} may tell something that is hidden"
    return CODES.get(code, "")
