"""Quality against cost: the systems that have both, and those on the Pareto front."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import pytest
from msgspec import structs

from leaderboard.boards.disclosure.costs import Cost
from leaderboard.boards.queries import Board, Row, ShownScore
from leaderboard.boards.web.pages.cost import CostedSystem, costed_systems, front
from tests.support.row_factory import board, row


def row_with_cost(name: str, value: float | None, seconds: float | None, **kind: str) -> Row:
    """A row with an AUROC and seconds."""
    return structs.replace(row(name, {("auroc", ()): ShownScore(value)}, **kind), cost=Cost(wall_seconds=seconds))


def systems(*rows: Row) -> Sequence[CostedSystem]:
    return costed_systems(board(rows, task="fact-checking", dimensions={}), "wall_seconds")


def on_front(entries: Sequence[CostedSystem]) -> set[str]:
    return {entry.row.system for entry in entries if entry.on_front}


ROWS = (
    row_with_cost("slow", 0.9, 1448),
    row_with_cost("worse", 0.6, 1448),
    row_with_cost("quick", 0.7, 8),
    row_with_cost("beaten", 0.65, 16),
)


def test_the_front_has_the_systems_that_none_beats_at_both():
    assert on_front(systems(*ROWS)) == {"slow", "quick"}


def test_less_may_be_better(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(Board, "measure", lambda *_: SimpleNamespace(higher_is_better=False))
    assert on_front(systems(*ROWS)) == {"worse", "quick", "beaten"}


def test_equal_points_share_the_front():
    assert front([(1, 0.5), (1, 0.5), (1, 0.4), (2, 0.5)]) == [True, True, False, False]


def test_systems_are_in_order_of_cost_and_the_best_of_equals_first():
    assert [entry.row.system for entry in systems(*ROWS)] == ["quick", "beaten", "slow", "worse"]


def test_rows_without_a_value_or_a_cost_are_left_out():
    more = (row_with_cost("no value", None, 4), row_with_cost("no cost", 0.5, None), row("neither", {}))
    assert len(systems(*ROWS, *more)) == len(ROWS)
