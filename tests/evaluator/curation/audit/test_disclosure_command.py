"""The command `audit disclosure`: its settings, its report, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evaluator.cli.main import main
from evaluator.exit_codes import DONE, WRONG_USAGE
from leaderboard.benchmarks.actions.benchmarks import proposed
from leaderboard.models import Phase
from tests.conftest import ROOT

FIXTURES = ROOT / "fixtures"
GRAPH = ("--benchmark", str(FIXTURES / "graph-claims" / "benchmark.json"), "--phase", "test", "--seeds", "1")
CLAIMS = ("fact-verification", "--gold", str(FIXTURES / "mirror-claims" / "splits" / "test.jsonl"), "--seeds", "1")


def report_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["audit", "disclosure", *arguments, "--json"]) == DONE
    report: dict[str, Any] = json.loads(capsys.readouterr().out)
    return report


def test_a_phase_of_a_benchmark_is_attacked_with_its_settings(capsys: pytest.CaptureFixture[str]) -> None:
    report = report_of(capsys, *GRAPH, "--quota", "6")
    assert report["policy"]["kind"] == "full" and not report["policy"]["exact"]
    assert (report["labels"], report["groups"], report["answers"]) == (1080, 540, 6)
    assert report["best"]["known"] < 0.2
    assert all(row["answers"] <= 6 and row["most_known"] <= row["bound"] for row in report["attacks"])
    assert report["best"]["known"] == max(row["known"] for row in report["attacks"])


def test_exact_scores_let_an_order_code_read_the_labels(capsys: pytest.CaptureFixture[str]) -> None:
    exact = ("--exact", "--least-groups", "1", "--detailed-answers", "all", "--quota", "2")
    report = report_of(capsys, *GRAPH, *exact)
    assert report["best"]["known"] > 0.35, "by one answer: 32 of the 40 labels of each scenario"


def test_gold_is_attacked_on_a_ladder_by_default_and_teams_share_it(capsys: pytest.CaptureFixture[str]) -> None:
    report = report_of(capsys, *CLAIMS, "--quota", "20", "--teams", "2", "--public-share", ".5")
    assert report["policy"]["kind"] == "ladder"
    assert report["groups"] == pytest.approx(report["labels"] / 4, abs=1), "groups of four claims"
    assert max(row["answers"] for row in report["attacks"]) == 40


@pytest.mark.parametrize("kind", ["ladder", "full"])
def test_the_defaults_are_those_of_a_new_phase_on_the_site(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    usual = Phase()
    on_site = {name: getattr(usual, name) for name in ("least_groups", "detailed_answers")} | proposed(kind)
    report = report_of(capsys, *CLAIMS, "--disclosure", kind, "--quota", "2")
    assert {name: on_site[name] for name in ("least_groups", "detailed_answers")}.items() <= report["policy"].items()
    assert report["answers"] == 2 and usual.quota_total == 50


def test_a_phase_on_public_groups_is_attacked_on_as_many(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = {"name": "test", "gold": CLAIMS[2], "public_share": ".25"}
    phases = [{"slug": name, "split": "test", "gold_subset": name} for name in ("public", "private")]
    benchmark = {"task": CLAIMS[0], "splits": [gold], "phases": phases}
    (tmp_path / "benchmark.json").write_text(json.dumps(benchmark))
    for phase, share in (("public", 0.25), ("private", 0.75)):
        where = ("--benchmark", str(tmp_path / "benchmark.json"), "--phase", phase, "--seeds", "1", "--quota", "2")
        report = report_of(capsys, *where)
        assert (report["public_share"], report["groups"]) == (share, 120 * share)
        assert report["policy"]["detailed_answers"] == 0


def test_it_says_in_a_sentence_what_is_learnt(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "disclosure", *CLAIMS, "--quota", "5"]) == DONE
    printed = capsys.readouterr().out
    assert "A determined participant would know " in printed
    settings = "ladder, rounded scores, slices of 100 groups or more, 0 answers in detail, 1 team with 5 answers each"
    assert settings in printed
    assert main(["audit", "disclosure", *CLAIMS, "--disclosure", "sealed"]) == DONE
    assert "Nothing is learnt before the phase is opened" in capsys.readouterr().out


def test_the_same_seed_gives_the_same_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert report_of(capsys, *CLAIMS, "--quota", "5") == report_of(capsys, *CLAIMS, "--quota", "5")


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["fact-verification"], "expected either TASK and --gold, or --benchmark and --phase"),
        ([*GRAPH, "--gold", "gold.jsonl"], "expected either TASK and --gold, or --benchmark and --phase"),
        (["--phase", "final", *GRAPH[:2]], 'has no phase "final" with a split'),
        (["--phase", "dev", *GRAPH[:2]], 'gold of phase "dev" is public'),
        ([*CLAIMS, "--public-share", "2"], "expected a number above 0 and up to 1"),
        ([*CLAIMS, "--detailed-answers", "few"], "expected a whole number"),
    ],
)
def test_what_it_refuses(arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["audit", "disclosure", *arguments]) == WRONG_USAGE
    assert expected in capsys.readouterr().err
