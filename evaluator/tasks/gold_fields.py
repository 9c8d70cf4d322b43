"""The content of a gold line, field by field: the question, the answer and the system that produced the item.

Two values differ only where a scorer, or a reader of the inputs, could distinguish them: facts, mentions and evidence
are sets, labels ignore case, and annotators' numbers are not part of the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Line = Mapping[str, Any]
Whole = dict[str, Any]
"""Field -> its single value; a field without one is left out."""
Members = dict[str, list[Any]]
"""Field -> its members, in any order; collections that count repetitions repeat the member."""


@dataclass(frozen=True)
class GoldFields:
    """The content of a gold line.

    question: visible to participants. answer and many: the right answer, as values and as collections of members.
    system: the system that produced the item, where measures distinguish systems.
    """

    question: Whole
    answer: Whole = field(default_factory=dict)
    many: Members = field(default_factory=dict)
    system: Whole = field(default_factory=dict)


def present(line: Line, *names: str) -> Whole:
    """Return the fields of these names that the line has."""
    return {name: line[name] for name in names if name in line}


def distinct(members: list[Any]) -> list[Any]:
    """Return the members without repetitions, in their order."""
    return list({repr(member): member for member in members}.values())
