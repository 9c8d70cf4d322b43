"""What comes out of the sandbox is checked before anything of the site reads it."""

from __future__ import annotations

from typing import Any

import pytest

from evaluator import code_digest
from evaluator.jobs.score import ValidateReport
from evaluator.sandbox.contract import Execution, Result, Verdict
from leaderboard.evaluation import sandbox_client
from leaderboard.evaluation.report_checks import ReportError
from leaderboard.models import Reason

PROBLEM = {"file": "p", "line": 1, "what": "w", "found": "", "expected": "", "text": "p:1: w"}
REFUSAL: dict[str, Any] = {"ok": False, "fault": "gold", "problems": [PROBLEM], "more": 0}
DIVIDED: dict[str, Any] = {"ok": True, "n_public": 1, "n_private": 2}


@pytest.fixture
def answered(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> Any:
    """The answer of `divide` where the sandbox says this."""

    def answer(report: dict[str, Any]) -> sandbox_client.Answer:
        seen: list[Execution] = []

        def run(self: Any, execution: Execution) -> Result:
            seen.append(execution)
            return Result(verdict=Verdict.DONE, report=report, attachment=b"halves", code_sha256=code_digest.SHA256)

        monkeypatch.setattr(sandbox_client.ProcessSandbox, "run", run)
        (tmp_path / "gold").write_bytes(b"")
        with (tmp_path / "gold").open("rb") as gold:
            found = sandbox_client.divide(
                task="fact-checking", gold=gold, name="g", options={"a": "b"}, seed=1, share="0.5", previous=None
            )
        assert (seen[0].job, seen[0].arguments["options"], seen[0].arguments["share"]) == ("divide", {"a": "b"}, "0.5")
        return found

    return answer


def test_a_sound_report_and_a_sound_refusal_pass(answered: Any) -> None:
    assert answered(DIVIDED).ok and answered(DIVIDED).attachment == b"halves"
    refused = answered(REFUSAL)
    assert (refused.ok, refused.reason, refused.report["problems"]) == (False, "", [PROBLEM])


@pytest.mark.parametrize(
    "report",
    [
        {},
        {"ok": "yes", "n_public": 1, "n_private": 2},
        {"ok": True, "n_public": "1", "n_private": 2},
        {**DIVIDED, "gold": "SUPPORTS"},
        {**REFUSAL, "fault": "nobody"},
        {**REFUSAL, "more": -1},
        {**REFUSAL, "problems": [{**PROBLEM, "text": 1}]},
        {**REFUSAL, "problems": [{**PROBLEM, "gold": "SUPPORTS"}]},
        {**REFUSAL, "problems": [PROBLEM] * 1000},
    ],
)
def test_a_report_of_another_shape_is_no_report(answered: Any, report: dict[str, Any]) -> None:
    found = answered(report)
    assert (found.ok, found.reason, found.report, found.attachment) == (False, Reason.OUTPUT, {}, b"")


def test_a_report_is_read_strictly() -> None:
    answer = sandbox_client.Answer("", {"ok": True, "n_lines": 1, "warnings": []}, b"", 0.0, 0.0, {})
    assert answer.read(ValidateReport) == ValidateReport(1, [])
    answer.report["more"] = 1
    with pytest.raises(ReportError, match="shape"):
        answer.read(ValidateReport)
