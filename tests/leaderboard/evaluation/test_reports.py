"""Reports that no valid scorer could have written are rejected."""

from __future__ import annotations

import copy
import math

import pytest

from evaluator.tasks.registry import TASKS
from leaderboard.evaluation.report_checks import ReportError, checked

TASK = "fact-verification"
MEASURES = [TASKS[TASK].measure(name) for name in ("accuracy", "symmetric_gap")]
GOOD = {
    "ok": True,
    "primary": "accuracy",
    "result": {
        "task": TASK,
        "task_version": TASKS[TASK].version,
        "n_units": 4,
        "n_groups": 1,
        "warnings": [],
        "scores": [
            {"measure": "accuracy", "slice": {}, "value": 0.5, "low": 0.25, "high": 0.75, "n": 4},
            {"measure": "accuracy", "slice": {"origin": "original"}, "value": None, "low": None, "high": None, "n": 0},
            {"measure": "symmetric_gap", "slice": {}, "value": -1, "low": None, "high": None, "n": 4},
        ],
    },
}


def test_a_valid_report_passes():
    scored = checked(GOOD, task=TASK, task_version=1, measures=MEASURES)
    assert [row.value for row in scored.scores] == [0.5, None, -1]
    assert scored.primary == "accuracy"


def _rows(report):
    return report["result"]["scores"]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda r: _rows(r)[0].update(value=math.nan), "the value is not finite"),
        (lambda r: _rows(r)[0].update(high=math.inf), "upper end is not finite"),
        (lambda r: _rows(r)[0].update(value=1.0000001), "outside the measure's bounds"),
        (lambda r: _rows(r)[2].update(value=-1.5), "outside the measure's bounds"),
        (lambda r: _rows(r)[0].update(low=0.8), "lower end is above its upper end"),
        (lambda r: _rows(r)[0].update(low=None), "no lower end"),
        (lambda r: _rows(r)[0].update(measure="luck"), "unknown measure"),
        (lambda r: _rows(r)[1].update(value=0.0), "a slice without units has a value"),
        (lambda r: _rows(r)[0].update(n=-1), "number of units of a slice is -1, expected 0 or more"),
        (lambda r: _rows(r).append(dict(_rows(r)[0])), "twice"),
        (lambda r: _rows(r).pop(), "missing: symmetric_gap"),
        (lambda r: r.update(primary="f1"), "missing: f1"),
        (lambda r: r["result"].update(task_version=99), f"for version 99 of {TASK}, expected 1"),
        (lambda r: r["result"].update(task="luck"), f"for another task, expected {TASK}"),
        (lambda r: r.update(groups=[1]), "1 numbers of groups for 3 scores"),
        (lambda r: r.update(groups=[1, 1, -2]), "-2 as a number of groups"),
        (lambda r: _rows(r)[0].update(value="0.5"), "declared type"),
        (lambda r: _rows(r)[0].update(gold="SUPPORTS"), "declared type"),
        (lambda r: r["result"].pop("scores"), "declared type"),
    ],
)
def test_an_impossible_report_is_refused(spoil, message):
    report = copy.deepcopy(GOOD)
    spoil(report)
    with pytest.raises(ReportError, match=message):
        checked(report, task=TASK, task_version=1, measures=MEASURES)
