"""The layout of one submission's revealed scores."""

from __future__ import annotations

from typing import Any

from leaderboard.models import Phase, Release, Split
from leaderboard.submissions.web.score_sheet import TIMES, primary_of, sheet


def score(measure: str, value: float | None, n: int = 4, **slice_: Any) -> dict[str, Any]:
    return {"measure": measure, "slice": slice_, "value": value, "low": None, "high": None, "n": n}


def release(*scores: dict[str, Any]) -> Release:
    phase = Phase(disclosure="full", split=Split(gold_public=True))
    return Release(primary="accuracy", values=list(scores), phase=phase)


def test_overall_scores_and_dimensions_are_separate() -> None:
    layout = sheet(release(score("gap", 0.1), score("accuracy", 1.0, n=1, origin="original"), score("accuracy", 0.5)))
    assert [cell.measure for cell in layout.whole] == ["accuracy", "gap"]
    assert layout.primary is layout.whole[0]
    (table,) = layout.tables
    assert (table.title, table.measures) == ("origin", ["accuracy"])
    assert [(value, n, [cell and cell.value for cell in cells]) for value, n, cells in table.rows] == [
        ("original", 1, [1.0])
    ]


def test_a_measure_without_a_value_in_a_slice_is_an_empty_cell() -> None:
    layout = sheet(
        release(
            score("accuracy", 0.5),
            score("gap", 0.1),
            score("gap", 0.2, kind="a"),
            score("accuracy", 0.6, kind="a"),
            score("accuracy", 0.7, kind="b"),
        )
    )
    (table,) = layout.tables
    assert table.measures == ["accuracy", "gap"]
    assert [[cell and cell.value for cell in cells] for _, _, cells in table.rows] == [[0.6, 0.2], [0.7, None]]


def test_equal_looking_values_of_two_types_are_two_rows() -> None:
    years: list[Any] = [1, "1", True]
    layout = sheet(release(*(score("accuracy", number / 10, year=year) for number, year in enumerate(years))))
    assert [(value, cells[0] and cells[0].value) for value, _, cells in layout.tables[0].rows] == [
        ("1", 0.0),
        ("1", 0.1),
        ("true", 0.2),
    ]


def test_two_dimensions_are_a_separate_table() -> None:
    layout = sheet(release(score("accuracy", 0.1, a="x"), score("accuracy", 0.2, a="x", b="y")))
    assert [table.title for table in layout.tables] == ["a", f"a{TIMES}b"]
    assert layout.tables[1].rows[0][0] == f"x{TIMES}y"


def test_without_releases_there_is_no_primary() -> None:
    assert primary_of([]) is None
    assert sheet(release(score("other", 1.0))).primary is None
