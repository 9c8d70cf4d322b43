"""The content of a gold line, field by field: the question, the answer and the system that produced the item.

The fields have the form in which a scorer, or a reader of the inputs, compares them: facts, mentions and evidence are
sets, labels ignore case, and annotators' numbers are not part of the answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Line = Mapping[str, Any]
Whole = dict[str, Any]
"""Field -> its value; a field that the line does not have is left out."""
Members = dict[str, list[Any]]
"""Field -> the members of its collection, in any order. A member occurs more than once only if repetitions count."""


@dataclass(frozen=True)
class GoldFields:
    """The content of a gold line, field by field.

    question: the fields that participants see. answer, many: the right answer: its fields with a single value, and its
    fields with a collection of values. system: the system that produced the item, if measures distinguish systems.
    """

    question: Whole
    answer: Whole = field(default_factory=dict)
    many: Members = field(default_factory=dict)
    system: Whole = field(default_factory=dict)


def present(line: Line, *names: str) -> Whole:
    """Return name -> value of those of the fields `names` that the gold line has."""
    return {name: line[name] for name in names if name in line}


def distinct(members: list[Any]) -> list[Any]:
    """Return the members without repetitions, in their order."""
    return list({repr(member): member for member in members}.values())
