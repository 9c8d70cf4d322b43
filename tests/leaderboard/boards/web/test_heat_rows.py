"""Shaded cells: which system is best, and why there is no value."""

from __future__ import annotations

from evaluator.disclosure.ladder import Bounds
from evaluator.tasks.registry import TASKS
from leaderboard.boards.queries import WHOLE, ShownScore
from leaderboard.boards.web.tables.heat_rows import NO_UNIT, NOT_SCORED, NOT_SHOWN, Source, heat_rows, reasons
from tests.support.row_factory import cells, row

TASK = TASKS["fact-checking"]
AUROC = Source(TASK.measure("auroc"), WHOLE)
GAP = Source(TASKS["fact-verification"].measure("symmetric_gap"), WHOLE)


def best(*rows: object, source: Source = AUROC) -> list[bool]:
    return [line[0].best for line in heat_rows(rows, [source])]  # type: ignore[arg-type]


def test_the_best_is_a_competing_system_and_ties_share_the_mark():
    oracle = row("oracle", cells("auroc", {WHOLE: 0.9}), kind="organiser")
    participants = [row(str(i), cells("auroc", {WHOLE: value})) for i, value in enumerate([0.4, 0.6, 0.6, None])]
    assert best(oracle, *participants) == [False, False, True, True, False]


def test_if_none_competes_the_best_of_all_is_marked():
    rows = [row(str(i), cells("auroc", {WHOLE: value}), kind="baseline") for i, value in enumerate([0.4, 0.6])]
    assert best(*rows) == [False, True]


def test_a_baseline_with_the_best_value_is_not_marked():
    rows = [row("a", cells("auroc", {WHOLE: 0.6})), row("b", cells("auroc", {WHOLE: 0.6}), kind="baseline")]
    assert best(*rows) == [True, False]


def test_a_measure_without_a_better_direction_has_no_best():
    rows = [row("a", cells("symmetric_gap", {WHOLE: 0.6})), row("b", cells("symmetric_gap", {WHOLE: 0.1}))]
    assert best(*rows, source=GAP) == [False, False]


def test_a_missing_value_has_its_reason():
    known = row("a", cells("auroc", {WHOLE: 0.5}))
    one_class = row("b", cells("auroc", {WHOLE: None}, n=3))
    without = row("c", {})
    lines = heat_rows([known, one_class, without], [AUROC])
    assert [line[0].reason for line in lines] == ["", TASK.measure("auroc").none_where, NOT_SCORED]
    assert reasons(lines) == ["all claims have the same label", "not scored"]
    assert heat_rows([without], [AUROC])[0][0].reason == NO_UNIT
    on_ladder = row("e", {("auroc", WHOLE): ShownScore(0.5, bounds=Bounds(0.5, 0.6))})
    assert heat_rows([on_ladder, without], [AUROC])[1][0].reason == NOT_SHOWN
    empty = row("d", {("auroc", WHOLE): ShownScore(None, n=0)})
    assert heat_rows([empty], [AUROC])[0][0].reason == NO_UNIT


def test_tables_without_rows_or_columns_work():
    assert heat_rows([], [AUROC]) == []
    assert heat_rows([row("a", {})], []) == [[]]


def test_a_measure_where_lower_is_better_sorts_from_the_other_end():
    assert AUROC.key.best_first
    assert AUROC.key.value(row("a", cells("auroc", {WHOLE: 0.25}))) == 0.25
