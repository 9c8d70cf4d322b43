"""What a trivial system is."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Trivial:
    """predictions: lines of the task's prediction format. watched: the measure that should be near `chance`; below 0:
    there is no such value, the score is shown alone. shown: other measures. known: boards allow for it."""

    name: str
    doc: str
    predictions: Iterable[dict[str, Any]]
    watched: str
    chance: float = -1.0
    shown: tuple[str, ...] = ()
    known: bool = False
