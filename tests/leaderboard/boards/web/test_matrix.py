"""The matrix of two dimensions: its entries and margins, each system's cells, and the leaders."""

from __future__ import annotations

import json

from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import WHOLE, Row, slice_of
from leaderboard.boards.web.charts.matrix import grid_of, leaders, matrices
from tests.support.row_factory import board, cells, row

PAIR = ("t", "h")
DIMENSIONS = {"t": [0.0, 0.5], "h": ["narrow", "wide"]}
AUROC = TASKS["fact-checking"].measure("auroc")


def system(name: str, value: float, kind: str = "participant", **exceptions: float | None) -> Row:
    """A system with one value everywhere, except the cells in `exceptions`, by their keys."""
    values = {}
    for t in (None, "0.0", "0.5"):
        for h in (None, "narrow", "wide"):
            coordinates = {name: at for name, at in (("t", t), ("h", h)) if at is not None}
            values[slice_of(coordinates)] = exceptions.get(f"{t}_{h}", value)
    return row(name, cells("auroc", values), kind)


def grid(*rows: Row):  # type: ignore[no-untyped-def]
    return grid_of(board(rows, task="fact-checking", dimensions=DIMENSIONS, cross="t,h"), PAIR, AUROC)


def test_lines_are_the_outer_values_with_the_margins_last():
    matrix_grid = grid(system("a", 0.5))
    assert [[(entry.outer, entry.inner) for entry in line] for line in matrix_grid.lines] == [
        [("0.0", "narrow"), ("0.0", "wide"), ("0.0", None)],
        [("0.5", "narrow"), ("0.5", "wide"), ("0.5", None)],
        [(None, "narrow"), (None, "wide"), (None, None)],
    ]
    assert matrix_grid.headings == ["narrow", "wide", None]
    assert matrix_grid.lines[0][1].source.slice == (("h", "wide"), ("t", "0.0"))
    assert matrix_grid.lines[0][2].source.slice == (("t", "0.0"),)
    assert matrix_grid.whole.source.slice == WHOLE
    assert matrix_grid.whole.is_margin and not matrix_grid.lines[0][0].is_margin


def test_a_key_identifies_an_entry_for_any_values():
    matrix_grid = grid(system("a", 0.5))
    assert len({entry.key for entry in matrix_grid.entries}) == len(matrix_grid.entries)
    assert matrix_grid.entry(json.dumps(["0.5", None])) is matrix_grid.lines[1][2]
    assert matrix_grid.entry("nonsense") is matrix_grid.whole


def test_n_is_missing_where_nothing_was_scored():
    only = row("a", cells("auroc", {WHOLE: 0.5}, n=7))
    matrix_grid = grid(only)
    assert matrix_grid.whole.n == 7
    assert matrix_grid.lines[0][0].n is None


def test_each_systems_cells_are_in_the_grids_order():
    rows = [system("a", 0.5, **{"0.0_wide": 0.75}), system("b", 0.25)]
    first, second = matrices(grid(*rows), rows)
    assert [[heat.score.value for heat in line] for _, line in first.lines] == [
        [0.5, 0.75, 0.5],
        [0.5, 0.5, 0.5],
        [0.5, 0.5, 0.5],
    ]
    assert [value for value, _ in first.lines] == ["0.0", "0.5", None]
    assert second.lines[-1][1][-1].score.value == 0.25
    assert first.lines[0][1][1].shade == "heat-5"


def test_leaders_are_the_best_of_each_entry_and_ties_name_all():
    rows = [
        system("a", 0.6, **{"0.0_wide": 0.9}),
        system("b", 0.6, **{"0.5_wide": 0.7, "0.0_narrow": None}),
        system("chance", 0.99, kind="baseline"),
    ]
    matrix_grid = grid(*rows)
    leading = leaders(matrix_grid, matrices(matrix_grid, rows))
    assert [value for value, _ in leading] == ["0.0", "0.5", None]
    names = [[leader.names for leader in line] for _, line in leading]
    assert names[0] == [["a"], ["a"], ["a", "b"]]
    assert names[1] == [["a", "b"], ["b"], ["a", "b"]]
    assert leading[0][1][1].score.value == 0.9
    assert leading[0][1][1].shade == "heat-8"


def test_without_values_there_is_no_leader():
    rows = [system("a", 0.5, **{"0.0_wide": None})]
    matrix_grid = grid(*rows)
    leader = leaders(matrix_grid, matrices(matrix_grid, rows))[0][1][1]
    assert (leader.score.value, leader.shade, leader.names) == (None, "", [])


def test_values_with_the_same_text_share_a_line():
    matrix_grid = grid_of(
        board([], task="fact-checking", dimensions={"t": [1, "1"], "h": ["x"]}, cross="t,h"), PAIR, AUROC
    )
    assert [line[0].outer for line in matrix_grid.lines] == ["1", None]
