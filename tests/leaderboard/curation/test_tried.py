"""What dry runs warn of: baselines that do suspiciously well, systems like them, intervals that tell nothing."""

from __future__ import annotations

from typing import Any

import pytest

from evaluator.tasks.registry import TASKS
from leaderboard.curation.queries.dry_run_report import NOTHING, BaselineRun, DryRunReport
from leaderboard.models import DryRun, GoldVersion, State


def score(measure: str, value: float | None, reach: float = 0.01, **slice_: Any) -> dict[str, Any]:
    ends = (None, None) if value is None else (value - reach, value + reach)
    return {"measure": measure, "slice": slice_, "value": value, "low": ends[0], "high": ends[1], "n": 9}


def tried(task: str, name: str, *scores: dict[str, Any], state: str = State.DONE) -> BaselineRun:
    baseline = next((one for one in TASKS[task].baselines if one.name == name), None)
    kind = DryRun.Kind.TRIVIAL if baseline else DryRun.Kind.FILE
    return BaselineRun(DryRun(name=name, kind=kind, state=state, result={"scores": scores}), baseline)


def codes(task: str, primary: str, *some: BaselineRun) -> list[tuple[str, str]]:
    found = DryRunReport(TASKS[task], GoldVersion(primary=primary), some)
    return [(told.code, told.text.split()[0]) for told in found.warnings]


CLAIMS, TRIPLES, METRICS = "fact-verification", "fact-checking", "metric-correlation"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5, []),
        (0.515, []),  # too little to be told, however narrow the interval
        (0.6, [("trivial-baseline", "claim-only")]),
        (0.4, []),  # worse than the most frequent label tells nothing
    ],
)
def test_a_claim_alone_is_held_beside_the_most_frequent_label(value: float, expected: Any) -> None:
    majority = tried(CLAIMS, "majority", score("accuracy", 0.5))
    assert codes(CLAIMS, "accuracy", majority, tried(CLAIMS, "claim-only", score("accuracy", value, 0.005))) == expected


def test_without_the_one_beside_it_nothing_is_said() -> None:
    assert codes(CLAIMS, "accuracy", tried(CLAIMS, "claim-only", score("accuracy", 0.9))) == []


@pytest.mark.parametrize(("value", "told"), [(0.5, 0), (0.58, 1), (0.42, 1)])
def test_an_auroc_off_one_half_tells_either_way(value: float, told: int) -> None:
    assert len(codes(TRIPLES, "auroc", tried(TRIPLES, "degree", score("auroc", value)))) == told


def test_a_wide_interval_does_not_accuse() -> None:
    found = codes(TRIPLES, "auroc", tried(TRIPLES, "degree", score("auroc", 0.58, 0.2)))
    assert found == [("wide", "Intervals")]


def test_a_correlation_below_zero_tells_as_much() -> None:
    assert codes(METRICS, "spearman", tried(METRICS, "length", score("spearman", -0.3)))[0][0] == "trivial-baseline"
    assert codes(METRICS, "spearman", tried(METRICS, "constant", score("spearman", None))) == []


def test_what_boards_show_for_what_it_is_accuses_nobody() -> None:
    task = "knowledge-base-population"
    one = tried(task, "whole-passage", score("text_f1", 0.8), score("link_f1", 0.0))
    (told,) = DryRunReport(TASKS[task], GoldVersion(primary="link_f1"), [one]).warnings
    assert (told.code, told.grave) == ("known-exploit", False)


@pytest.mark.parametrize(("value", "told"), [(0.5, True), (0.4, True), (0.509, True), (0.53, False)])
def test_a_system_is_to_be_better_than_what_solves_nothing(value: float, told: bool) -> None:
    majority, ours = tried(CLAIMS, "majority", score("accuracy", 0.5)), tried(CLAIMS, "Ours", score("accuracy", value))
    assert (("not-apart", "Ours") in codes(CLAIMS, "accuracy", majority, ours)) is told


def test_slices_that_tell_nothing_are_named() -> None:
    wide = [score("accuracy", 0.5, 0.3, kind=place) for place in range(10)]
    one = tried(CLAIMS, "majority", score("accuracy", 0.5), *wide, score("accuracy", 0.5, 0.1, kind="narrow"))
    (told,) = DryRunReport(TASKS[CLAIMS], GoldVersion(primary="accuracy"), [one]).warnings
    assert told.text.startswith("10 of 11 slices")
    assert "kind=7 and 2 more" in told.text and "narrow" not in told.text


def test_only_what_is_done_is_heard() -> None:
    majority = tried(CLAIMS, "majority", score("accuracy", 0.5))
    waiting = tried(CLAIMS, "claim-only", score("accuracy", 0.9), state=State.QUEUED)
    assert codes(CLAIMS, "accuracy", majority, waiting) == []
    assert waiting.score("accuracy", {"kind": 1}) == NOTHING
