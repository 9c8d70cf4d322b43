"""The table of ids: exact for every kind of id, in blocks and one by one."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from evaluator.jsonl import id_table
from evaluator.jsonl.id_table import IdTable

N = 5000
KINDS: dict[str, Any] = {
    "integers": lambda i: i * 7919 - N,
    "integers beyond 64 bits": lambda i: i << 60,
    "words": lambda i: f"c{i}",
    "of two words": lambda i: f"document/{i}",
    "longer and longer": lambda i: "y" * (i // 500) + str(i),
    "beyond the columns": lambda i: "x" * 300 + str(i),
    "not ASCII": lambda i: f"é{i}€",
    "with NUL": lambda i: f"{i}\0",
}


@pytest.mark.parametrize("same_slot", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_lookups_equal_those_of_a_dict(kind: str, same_slot: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if same_slot:  # all ids begin at few slots, so that a lookup meets other ids first
        monkeypatch.setattr(id_table, "_FACTORS", (1 << 60,))
    n = 300 if same_slot else N
    ids = [KINDS[kind](i) for i in range(n)]
    table = IdTable()
    for begin in range(0, n, 700):
        block = ids[begin : begin + 700]
        assert table.add_all(block[:600]) and all(table.add(value) for value in block[600:])
    assert len(table) == n and list(table) == ids and list(table.sequence()) == ids
    others = [KINDS[kind](i) for i in range(n, n + 50)]
    asked = random.Random(0).sample(ids + others, n + 50)
    index = {value: i for i, value in enumerate(ids)}
    assert table.find(asked).tolist() == [index.get(value, -1) for value in asked]
    assert [table.get(value, -1) for value in asked[:200]] == [index.get(value, -1) for value in asked[:200]]


def test_a_block_with_a_duplicate_or_another_type_is_not_added() -> None:
    table = IdTable()
    assert table.add_all(["a", "b"])
    for block in (["c", "b"], ["c", "c"], ["c", 1]):
        assert not table.add_all(block)
    assert not table.add("a") and not table.add(1) and list(table) == ["a", "b"]
    assert table.find(["b", 1]).tolist() == [1, -1] and 1 not in table and table.get(True) is None
    assert table.add("c") and table.sequence()[2] == "c" and list(table.sequence()[1:]) == ["b", "c"]


def test_an_empty_id_is_an_id() -> None:
    table = IdTable()
    assert table.add_all(["", "a"]) and table.find(["a", "", "b"]).tolist() == [1, 0, -1] and list(table) == ["", "a"]
    assert np.all(IdTable().find(["a"]) == -1)
