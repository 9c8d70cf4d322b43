"""What a baseline is, and what it may look at."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evaluator.statistics.random_streams import draws
from evaluator.tasks.audit.split import Split

Line = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """inputs: the lines that participants get. trains: gold that everybody may read. facts: of validation, public."""

    inputs: Sequence[Line]
    trains: Sequence[Split]
    facts: Mapping[str, Any]
    seed: int

    def draws(self, name: str) -> random.Random:
        return draws(self.seed, "baseline", name)


@dataclass(frozen=True)
class Baseline:
    """One way to answer without solving the task.

    answer: lines of the task's prediction format; None where inputs or training do not have what it needs. watched: the
    measure that is held against what knowing nothing gives: `chance`, or what the baseline `beside` scores; neither:
    there is no such value. needs: in words, for where it says nothing. known: the task's boards show it for what it is.
    """

    name: str
    doc: str
    answer: Callable[[Asked], Iterable[Line] | None]
    watched: str
    chance: float | None = None
    beside: str = ""
    needs: str = ""
    known: bool = False
