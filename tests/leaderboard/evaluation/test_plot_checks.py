"""Plot data that no valid scorer could have written is rejected."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest

from leaderboard.evaluation import plot_checks, report_checks
from tests.leaderboard.evaluation.test_reports import GOOD, MEASURES, TASK

DRAWING: dict[str, Any] = {
    "curves": [{"slice": {}, "heights": [0, 2, 3, 4, 4]}, {"slice": {"kind": 1}, "heights": [1, 1, 1, 2, 4]}],
    "grids": [
        {
            "slice": {},
            "columns": [{"start": 0, "end": 1, "counts": [3, 0, 1]}, {"start": 1, "end": 3, "counts": [0, 4, 4]}],
        }
    ],
    "pairs": {"both": 1, "drop": 0, "flip": 2, "neither": 0},
}


def checked(drawing: Any) -> plot_checks.PlotData | None:
    return report_checks.checked({**GOOD, "plot_data": drawing}, task=TASK, task_version=1, measures=MEASURES).plot_data


def test_valid_plot_data_is_stored_unchanged() -> None:
    plots = checked(DRAWING)
    assert msgspec.to_builtins(plots) == DRAWING and plots is not None and not plots.is_empty
    assert msgspec.to_builtins(checked({"pairs": DRAWING["pairs"]})) == {"pairs": DRAWING["pairs"]}


def test_a_report_may_have_no_plot_data() -> None:
    assert report_checks.checked(GOOD, task=TASK, task_version=1, measures=MEASURES).plot_data is None
    empty = checked({})
    assert empty is not None and empty.is_empty


def _set(path: str, value: Any) -> Any:
    def change(drawing: dict[str, Any]) -> None:
        *parents, last = path.split(".")
        node: Any = drawing
        for step in parents:
            node = node[int(step)] if isinstance(node, list) else node[step]
        node[int(last) if isinstance(node, list) else last] = value

    return change


UNSOUND = {
    "a curve that falls": _set("curves.0.heights", [0, 3, 2, 4, 4]),
    "a curve that ends below its corner": _set("curves.0.heights", [0, 1, 2, 3, 3]),
    "a curve above its corner": _set("curves.0.heights", [0, 1, 2, 3, 5]),
    "a curve from below": _set("curves.0.heights", [-1, 1, 2, 3, 4]),
    "a curve finer than any": _set("curves.0.heights", list(range(102))),
    "a curve of no steps": _set("curves.0.heights", []),
    "a curve of text": _set("curves.0.heights", ["the gold", 1, 2, 3, 4]),
    "a curve of fractions": _set("curves.0.heights", [0, 1.5, 2, 3, 4]),
    "a slice twice": _set("curves.1.slice", {}),
    "a slice by two dimensions": _set("curves.1.slice", {"a": 1, "b": 2}),
    "too many slices": _set("curves", [{"slice": {"kind": i}, "heights": [0, 1, 2, 3, 4]} for i in range(60)]),
    "columns with a gap": _set("grids.0.columns.1.start", 2),
    "columns that end before they start": _set("grids.0.columns.0.end", 0),
    "one column": _set("grids.0.columns", [{"start": 0, "end": 3, "counts": [1, 1, 1]}]),
    "no column": _set("grids.0.columns", []),
    "a column of too few counts": _set("grids.0.columns.0.counts", [4]),
    "a count below nothing": _set("grids.0.columns.0.counts", [5, -1, 0]),
    "too many parts": _set("grids.0.columns", [{"start": i, "end": i + 1, "counts": [1] * 50} for i in range(50)]),
    "pairs below nothing": _set("pairs.flip", -2),
    "pairs of something else": _set("pairs.labels", "SUPPORTS"),
    "a part of another name": _set("gold", ["the gold"]),
}


@pytest.mark.parametrize("name", UNSOUND)
def test_invalid_plot_data_fails_the_run(name: str) -> None:
    drawing = copy.deepcopy(DRAWING)
    UNSOUND[name](drawing)
    with pytest.raises(report_checks.ReportError) as error:
        checked(drawing)
    assert "the gold" not in str(error.value)
