"""Baselines: systems that solve nothing, built from what participants have.

They never see the gold that they are scored on. The same inputs, training gold and seed give the same bytes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluator.statistics.random_streams import random_stream
from evaluator.tasks.audit.split import Split

Line = dict[str, Any]


@dataclass(frozen=True)
class BaselineInput:
    """The data that a baseline may use.

    inputs: the lines that participants get. trains: public gold. facts: the public facts for validation. own: in an
    audit, the audited split; without public gold a baseline may learn from its other groups.
    """

    inputs: Sequence[Line]
    trains: Sequence[Split]
    facts: Mapping[str, Any]
    seed: int
    own: Split | None = None

    def rng(self, name: str) -> random.Random:
        return random_stream(self.seed, "baseline", name)


@dataclass(frozen=True)
class AuditUse:
    """How an audit reports a baseline.

    chance: the value of the watched measure without any knowledge, where it is not the baseline's own `chance`.
    shown: further measures to report.
    untrained: what the baseline does where the audit has no public gold.
    advice: how to fix a score above chance.
    """

    chance: Callable[[Split], float] | None = None
    shown: tuple[str, ...] = ()
    untrained: str = ""
    advice: str = "balance the data (split symmetric, another sample), or show this score on the board"


@dataclass(frozen=True)
class Baseline:
    """A way to answer without solving the task.

    answer: returns lines of the task's prediction format; None where inputs or training lack what it needs.
    watched: the measure that is compared with a reference: `chance`, or the score of the baseline named `beside`;
    neither: there is no reference.
    needs: in words, shown where it has no answer.
    known: the task's boards show it, marked as a baseline.
    audit: None where audits omit it.
    """

    name: str
    doc: str
    answer: Callable[[BaselineInput], Iterable[Line] | None]
    watched: str
    chance: float | None = None
    reference: str = ""
    needs: str = ""
    known: bool = False
    audit: AuditUse | None = None
