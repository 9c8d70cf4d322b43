"""Formats made of records, and the outcomes that the base of item tasks makes of a task's columns."""

from __future__ import annotations

import io
from typing import Any

import msgspec
import numpy as np
import pytest

from evaluator.jsonl.ids import GoldLine
from evaluator.outcomes.table import Dimension
from evaluator.tasks.fact_checking import FactChecking
from evaluator.tasks.items.base import ItemStatistics
from evaluator.tasks.items.files import format_of


class Line(GoldLine, gc=False, kw_only=True):
    id: str
    answer: list[str]
    text: str | msgspec.UnsetType = msgspec.UNSET


@pytest.mark.parametrize(
    ("line", "n_keys"),
    [
        ({}, 2),
        ({"text": ""}, 3),
        ({"group": 1}, 3),
        ({"slices": {}}, 3),
        ({"text": "t", "group": "g", "slices": {"a": 1, "b": "x"}}, 7),
    ],
)
def test_a_format_knows_the_keys_of_a_line(line: dict[str, Any], n_keys: int) -> None:
    layout = format_of(Line)
    assert layout.count_keys(msgspec.convert({"id": "i", "answer": ["a"]} | line, Line)) == n_keys
    assert layout.shape.names == {"id", "answer", "text", "group", "slices"}
    assert layout.shape.nested["slices"].free


GOLD = b"".join(
    b'{"id": %d, "subject": "s", "relation": "r%d", "object": "o", "label": true%s}\n' % (i, i % 2, more)
    for i, more in enumerate((b"", b', "slices": {"relation": "mine", "kind": 1}', b', "slices": {"kind": 2}'))
)


class Mistakes(FactChecking):
    """It has a second row for the last claim, and its dimension is made of values or of codes."""

    def __init__(self, relations: Any) -> None:
        self.relations = relations

    def statistics(self, *_: Any) -> ItemStatistics:
        return ItemStatistics({"claim": np.ones(4)}, {"relation": self.relations}, items=np.array([0, 1, 2, 2]))


@pytest.mark.parametrize(
    "relations",
    [
        ["r0", "r1", None, "r0"],
        Dimension(np.array([0, 1, -1, 0], dtype=np.int32), ("r0", "r1"), declared=False, within_groups=True),
    ],
)
def test_a_declared_slice_counts_before_the_derived_one(relations: Any) -> None:
    task = Mistakes(relations)
    gold = task.read_gold(io.BytesIO(GOLD), "gold.jsonl", {})
    outcomes = task.score(gold, task.empty_answers(gold), {})
    dimension = outcomes.dimensions["relation"]
    assert [dimension.values[code] if code >= 0 else None for code in dimension.codes] == ["r0", "mine", None, "r0"]
    assert dimension.declared and dimension.within_groups
    assert outcomes.dimensions["kind"].codes.tolist() == [-1, 0, 1, 1]
    assert outcomes.groups.tolist() == [0, 1, 2, 2] and outcomes.n_units == 3
