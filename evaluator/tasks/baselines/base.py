"""Baselines: systems that do not really solve the task, built from data that participants have.

A baseline never sees the gold that it is scored on, except in an audit (`BaselineInput.own`). The same inputs, public
gold and seed give the same bytes.
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

    inputs: the lines of the public inputs. train_splits: splits whose gold is public. facts: the public facts about the
    gold (`Task.facts`). seed: the seed of all random choices. own: in an audit, the audited split; otherwise None. If
    there is no public gold, a baseline may learn from `own`: how often each label occurs, or by cross-validation over
    its groups.
    """

    inputs: Sequence[Line]
    train_splits: Sequence[Split]
    facts: Mapping[str, Any]
    seed: int
    own: Split | None = None

    def rng(self, name: str) -> random.Random:
        return random_stream(self.seed, "baseline", name)


@dataclass(frozen=True)
class AuditUse:
    """How an audit reports a baseline.

    chance: returns the value of `audited_measure` that chance gives on a split; None: it is `Baseline.chance`.
    shown: the names of further measures to report.
    untrained: the description that replaces `Baseline.doc` if there is no public gold and the baseline therefore learns
    from the audited split.
    advice: what to do if the score is above chance.
    """

    chance: Callable[[Split], float] | None = None
    shown: tuple[str, ...] = ()
    untrained: str = ""
    advice: str = "balance the data (split symmetric, another sample), or show this score on the board"


@dataclass(frozen=True)
class Baseline:
    """A way to make predictions without solving the task.

    doc: what it predicts, for readers.
    answer: returns lines of the task's prediction format; None if inputs or public gold lack data that it needs.
    audited_measure: the name of the measure by which the baseline is judged.
    chance: the value of `audited_measure` that chance gives; None: there is no fixed one.
    reference: the name of another baseline, whose score replaces `chance`; empty: there is none.
    needs: the data that it needs to make predictions, in words for readers.
    known: True if the baseline is known to score above chance, so that audits report that as a note, not as a warning.
    audit: how audits report the baseline; None: audits omit it.
    """

    name: str
    doc: str
    answer: Callable[[BaselineInput], Iterable[Line] | None]
    audited_measure: str
    chance: float | None = None
    reference: str = ""
    needs: str = ""
    known: bool = False
    audit: AuditUse | None = None
