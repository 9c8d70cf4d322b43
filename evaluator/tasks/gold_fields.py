"""What a line of gold says, field by field: what is asked, what is right, what belongs together.

Two values are one change only where a scorer, or a reader of the inputs, could tell them apart: facts, mentions and
evidence are sets, labels have no case, and annotators' numbers are no part of the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Line = Mapping[str, Any]
Whole = dict[str, Any]
"""Field -> its one value; a field without one is left out."""
Members = dict[str, list[Any]]
"""Field -> its members, in any order; of a collection that counts repetitions a member stands as often."""


@dataclass(frozen=True)
class GoldFields:
    """question: what participants see. answer and many: what is right, as values and as collections of members.
    system: what made the item, where measures take that apart."""

    question: Whole
    answer: Whole = field(default_factory=dict)
    many: Members = field(default_factory=dict)
    system: Whole = field(default_factory=dict)


def present(line: Line, *names: str) -> Whole:
    """The fields of these names that the line has."""
    return {name: line[name] for name in names if name in line}


def distinct(members: list[Any]) -> list[Any]:
    """The members without repetitions, in their order."""
    return list({repr(member): member for member in members}.values())
