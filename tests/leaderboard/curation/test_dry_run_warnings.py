"""Warnings of dry runs: suspiciously good baselines, systems no better than them, intervals that are too wide."""

from __future__ import annotations

from typing import Any

import pytest

from evaluator.tasks.registry import TASKS
from leaderboard.curation.queries.dry_run_report import NOTHING, BaselineRun, DryRunReport
from leaderboard.models import DryRun, GoldVersion, State


def score(measure: str, value: float | None, half_width: float = 0.01, **slice_: Any) -> dict[str, Any]:
    interval = (None, None) if value is None else (value - half_width, value + half_width)
    return {"measure": measure, "slice": slice_, "value": value, "low": interval[0], "high": interval[1], "n": 9}


def baseline_run(task: str, name: str, *scores: dict[str, Any], state: str = State.DONE) -> BaselineRun:
    baseline = next((trivial for trivial in TASKS[task].baselines if trivial.name == name), None)
    kind = DryRun.Kind.TRIVIAL if baseline else DryRun.Kind.FILE
    return BaselineRun(DryRun(name=name, kind=kind, state=state, result={"scores": scores}), baseline)


def warning_codes(task: str, primary: str, *runs: BaselineRun) -> list[tuple[str, str]]:
    report = DryRunReport(TASKS[task], GoldVersion(primary=primary), runs)
    return [(warning.code, warning.text.split()[0]) for warning in report.warnings]


CLAIMS, TRIPLES, METRICS = "fact-verification", "fact-checking", "metric-correlation"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5, []),
        (0.515, []),  # too small a difference for a warning, however narrow the interval
        (0.6, [("trivial-baseline", "claim-only")]),
        (0.4, []),  # worse than the most frequent label is no warning
    ],
)
def test_a_claim_only_baseline_is_compared_with_the_most_frequent_label(value: float, expected: Any) -> None:
    majority = baseline_run(CLAIMS, "majority", score("accuracy", 0.5))
    assert (
        warning_codes(CLAIMS, "accuracy", majority, baseline_run(CLAIMS, "claim-only", score("accuracy", value, 0.005)))
        == expected
    )


def test_without_the_majority_baseline_there_is_no_warning() -> None:
    assert warning_codes(CLAIMS, "accuracy", baseline_run(CLAIMS, "claim-only", score("accuracy", 0.9))) == []


@pytest.mark.parametrize(("value", "n_warnings"), [(0.5, 0), (0.58, 1), (0.42, 1)])
def test_an_auroc_away_from_one_half_warns_in_both_directions(value: float, n_warnings: int) -> None:
    assert len(warning_codes(TRIPLES, "auroc", baseline_run(TRIPLES, "degree", score("auroc", value)))) == n_warnings


def test_a_wide_interval_gives_no_baseline_warning() -> None:
    warnings = warning_codes(TRIPLES, "auroc", baseline_run(TRIPLES, "degree", score("auroc", 0.58, 0.2)))
    assert warnings == [("wide", "Intervals")]


def test_a_negative_correlation_warns_too() -> None:
    assert (
        warning_codes(METRICS, "spearman", baseline_run(METRICS, "length", score("spearman", -0.3)))[0][0]
        == "trivial-baseline"
    )
    assert warning_codes(METRICS, "spearman", baseline_run(METRICS, "constant", score("spearman", None))) == []


def test_a_known_exploit_is_no_grave_warning() -> None:
    task = "knowledge-base-population"
    run = baseline_run(task, "whole-passage", score("text_f1", 0.8), score("link_f1", 0.0))
    (warning,) = DryRunReport(TASKS[task], GoldVersion(primary="link_f1"), [run]).warnings
    assert (warning.code, warning.grave) == ("known-exploit", False)


@pytest.mark.parametrize(("value", "expected"), [(0.5, True), (0.4, True), (0.509, True), (0.53, False)])
def test_a_system_must_be_better_than_a_trivial_baseline(value: float, expected: bool) -> None:
    majority, system = (
        baseline_run(CLAIMS, "majority", score("accuracy", 0.5)),
        baseline_run(CLAIMS, "Ours", score("accuracy", value)),
    )
    assert (("not-apart", "Ours") in warning_codes(CLAIMS, "accuracy", majority, system)) is expected


def test_slices_with_wide_intervals_are_named() -> None:
    wide = [score("accuracy", 0.5, 0.3, kind=index) for index in range(10)]
    run = baseline_run(CLAIMS, "majority", score("accuracy", 0.5), *wide, score("accuracy", 0.5, 0.1, kind="narrow"))
    (warning,) = DryRunReport(TASKS[CLAIMS], GoldVersion(primary="accuracy"), [run]).warnings
    assert warning.text.startswith("10 of 11 slices")
    assert "kind=7 and 2 more" in warning.text and "narrow" not in warning.text


def test_only_finished_dry_runs_are_reported() -> None:
    majority = baseline_run(CLAIMS, "majority", score("accuracy", 0.5))
    waiting = baseline_run(CLAIMS, "claim-only", score("accuracy", 0.9), state=State.QUEUED)
    assert warning_codes(CLAIMS, "accuracy", majority, waiting) == []
    assert waiting.score("accuracy", {"kind": 1}) == NOTHING
