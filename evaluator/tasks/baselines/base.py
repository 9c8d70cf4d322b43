"""Baselines: systems that solve nothing, made of what participants have.

They never see the gold that they are scored on. The same inputs, training gold and seed give the same bytes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluator.statistics.random_streams import draws
from evaluator.tasks.audit.split import Split

Line = dict[str, Any]


@dataclass(frozen=True)
class BaselineInput:
    """What a baseline may look at.

    inputs: the lines that participants get. trains: gold that everybody may read. facts: of validation, public. own: in
    an audit, the split that is audited; without public gold a baseline may learn from its other groups.
    """

    inputs: Sequence[Line]
    trains: Sequence[Split]
    facts: Mapping[str, Any]
    seed: int
    own: Split | None = None

    def draws(self, name: str) -> random.Random:
        return draws(self.seed, "baseline", name)


@dataclass(frozen=True)
class AuditUse:
    """How an audit reports a baseline.

    chance: what knowing nothing gives in the measure that is watched, where it is not the baseline's own `chance`.
    shown: more measures. untrained: what the baseline does where the audit has no public gold. advice: what mends it.
    """

    chance: Callable[[Split], float] | None = None
    shown: tuple[str, ...] = ()
    untrained: str = ""
    advice: str = "balance what gives it away (split symmetric, another draw), or show this score on the board"


@dataclass(frozen=True)
class Baseline:
    """One way to answer without solving the task.

    answer: lines of the task's prediction format; None where inputs or training do not have what it needs. watched: the
    measure that is held against what knowing nothing gives: `chance`, or what the baseline `beside` scores; neither:
    there is no such value. needs: in words, for where it says nothing. known: the task's boards show it for what it is.
    audit: None where audits leave it out.
    """

    name: str
    doc: str
    answer: Callable[[BaselineInput], Iterable[Line] | None]
    watched: str
    chance: float | None = None
    beside: str = ""
    needs: str = ""
    known: bool = False
    audit: AuditUse | None = None
