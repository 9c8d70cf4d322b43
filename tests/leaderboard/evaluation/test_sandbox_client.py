"""Results from the sandbox are checked before the site reads them."""

from __future__ import annotations

from tempfile import TemporaryFile
from typing import Any

import pytest
from django.core.files import File

from evaluator import code_digest
from evaluator.jobs.score import ValidateReport
from evaluator.sandbox.contract import Execution, Result, Verdict
from leaderboard.core.refusal import Refused
from leaderboard.datasets.actions import gold_validation
from leaderboard.evaluation import sandbox_client
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.models import Dataset, Reason, Split, User

PROBLEM = {"file": "p", "line": 1, "what": "w", "found": "", "expected": "", "text": "p:1: w"}
REFUSAL: dict[str, Any] = {"ok": False, "fault": "gold", "problems": [PROBLEM], "more": 0}
PARTITIONED: dict[str, Any] = {"ok": True, "n_public": 1, "n_private": 2}


@pytest.fixture
def partition_with(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Any:
    """Returns a callable that returns the result of `partition` for the given report of the sandbox."""

    def answer(report: dict[str, Any]) -> sandbox_client.Answer:
        executions: list[Execution] = []

        def run(self: Any, execution: Execution) -> Result:
            executions.append(execution)
            return Result(verdict=Verdict.DONE, report=report, attachment=b"halves", code_sha256=code_digest.SHA256)

        monkeypatch.setattr(sandbox_client.ProcessSandbox, "run", run)
        (tmp_path / "gold").write_bytes(b"")
        with (tmp_path / "gold").open("rb") as gold:
            result = sandbox_client.partition(
                {"gold": gold}, task="fact-checking", gold_name="g", options={"a": "b"}, seed=1, share="0.5"
            )
        assert (executions[0].job, executions[0].arguments["options"], executions[0].arguments["share"]) == (
            "partition",
            {"a": "b"},
            "0.5",
        )
        return result

    return answer


def test_the_wall_time_is_a_multiple_of_the_processor_time(
    monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Any
) -> None:
    """Four files at once on two processors each get half of one."""
    settings.SCORE_SECONDS, limits = 7, []

    def run(self: Any, execution: Execution) -> Result:
        limits.append(execution.limits)
        return Result(verdict=Verdict.TIME)

    monkeypatch.setattr(sandbox_client.ProcessSandbox, "run", run)
    (tmp_path / "gold").write_bytes(b"")
    with (tmp_path / "gold").open("rb") as gold:
        answer = sandbox_client.prepare_gold({"gold": gold}, task="fact-checking", gold_name="g")
    assert answer.reason == Reason.TIME
    assert [(limit.cpu_seconds, limit.wall_seconds) for limit in limits] == [(7, 35)]


def test_a_file_that_exceeds_the_limits_is_refused_with_them(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.SCORE_SECONDS, settings.SANDBOX_MEMORY_BYTES = 7, 2048 << 20
    monkeypatch.setattr(sandbox_client.ProcessSandbox, "run", lambda self, execution: Result(verdict=Verdict.TIME))
    recorded: dict[str, Any] = {}
    monkeypatch.setattr(gold_validation.refused_uploads, "record", lambda *_, **values: recorded.update(values))
    split, curator = Split(dataset=Dataset(task="fact-checking")), User(username="curator")
    with TemporaryFile() as file, pytest.raises(Refused, match="7 s of processor time and 2,048 MiB of memory"):
        gold_validation.prepare(split=split, file=File(file), name="gold.jsonl", by=curator)
    assert (recorded["by"], recorded["reason"]) == (curator, Reason.TIME)


def test_a_valid_report_and_a_valid_refusal_pass(partition_with: Any) -> None:
    assert partition_with(PARTITIONED).ok and partition_with(PARTITIONED).attachment == b"halves"
    refused = partition_with(REFUSAL)
    assert (refused.ok, refused.reason, refused.report["problems"]) == (False, "", [PROBLEM])


@pytest.mark.parametrize(
    "report",
    [
        {},
        {"ok": "yes", "n_public": 1, "n_private": 2},
        {"ok": True, "n_public": "1", "n_private": 2},
        {**PARTITIONED, "gold": "SUPPORTS"},
        {**REFUSAL, "fault": "nobody"},
        {**REFUSAL, "more": -1},
        {**REFUSAL, "problems": [{**PROBLEM, "text": 1}]},
        {**REFUSAL, "problems": [{**PROBLEM, "gold": "SUPPORTS"}]},
        {**REFUSAL, "problems": [PROBLEM] * 1000},
    ],
)
def test_a_malformed_report_is_rejected(partition_with: Any, report: dict[str, Any]) -> None:
    answer = partition_with(report)
    assert (answer.ok, answer.reason, answer.report, answer.attachment) == (False, Reason.OUTPUT, {}, b"")


def test_a_report_is_read_strictly() -> None:
    answer = sandbox_client.Answer("", {"ok": True, "n_lines": 1, "warnings": []}, b"", 0.0, 0.0, {})
    assert answer.read(ValidateReport) == ValidateReport(1, [])
    answer.report["more"] = 1
    with pytest.raises(ReportError, match="declared type"):
        answer.read(ValidateReport)
