"""The arguments of the jobs are typed: an invalid argument is a usage error, and no file is read."""

from __future__ import annotations

import io
import json
from typing import Any

import msgspec
import pytest

from evaluator import jobs
from evaluator.jobs import warmup
from evaluator.jobs.base import Job, Refusal, Report
from evaluator.jobs.compare import CompareBoardRequest, ScorerDeclaration
from evaluator.jobs.score import ScoreRequest

SCORING: dict[str, Any] = {"task": "fact-checking", "gold_name": "g", "predictions_name": "p"}


@pytest.mark.parametrize("name", jobs.JOBS)
def test_an_unknown_argument_is_refused(name: str) -> None:
    report, attachment = jobs.JOBS[name]({}, {"no such": 1})
    assert (report["ok"], report["fault"], attachment) == (False, "usage", b"")
    assert f"do not fit the job {name}" in report["problems"][0]["text"]


@pytest.mark.parametrize(
    "wrong",
    [{"resamples": "10"}, {"options": {"setting": 1}}, {"gold_name": None}, {"limits": {"lines": "many"}}, {"half": 1}],
)
def test_an_argument_of_another_type_is_refused(wrong: dict[str, Any]) -> None:
    report, _ = jobs.JOBS["score"]({}, SCORING | wrong)
    assert report["fault"] == "usage" and next(iter(wrong)) in report["problems"][0]["text"]


def test_a_request_of_another_job_is_refused() -> None:
    report, _ = jobs.JOBS["plot_data"]({}, ScoreRequest(**SCORING))
    assert report["fault"] == "usage"


def test_a_request_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        ScoreRequest(**SCORING).task = "other"  # type: ignore[misc]


def test_requests_survive_json_and_reports_are_of_the_declared_type() -> None:
    """For every job that the sandbox runs during its warm-up."""
    jobs_seen: set[str] = set()

    def checked(job: Job[Any]) -> Any:
        returned: list[Report] = []

        def work(files: Any, request: Any) -> tuple[Report, bytes]:
            report, attachment = job.work(files, request)
            returned.append(report)
            return report, attachment

        def run(files: Any, arguments: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
            sent = json.loads(json.dumps(arguments))
            assert "?" in sent or msgspec.convert(sent, job.request) == msgspec.convert(arguments, job.request)
            returned.clear()
            report, attachment = Job(job.request, work)(files, sent)
            received = json.loads(json.dumps(report, allow_nan=False))
            if received.pop("ok"):
                jobs_seen.add(job.request.job)
                assert isinstance(msgspec.convert(received, type(returned[0])), Report)
            else:
                assert msgspec.convert(received, Refusal).problems
            return report, attachment

        return run

    warmup.run({name: checked(job) for name, job in jobs.JOBS.items()})
    assert jobs_seen == set(jobs.JOBS)


def test_a_struct_in_a_request_is_read_back() -> None:
    measure = {"name": "m", "title": "M", "doc": "d", "lower": None, "upper": 1.0, "higher_is_better": True}
    scorer = msgspec.convert({"number": 2, "measures": [measure], "primary": "m"}, ScorerDeclaration)
    request = CompareBoardRequest(pairs=[(0, 1)], measure="m", scorer=scorer)
    assert msgspec.convert(json.loads(msgspec.json.encode(request)), CompareBoardRequest) == request


def test_the_command_line_and_the_sandbox_run_one_job() -> None:
    gold = b'{"id": 1, "subject": "a", "relation": "r", "object": "b", "label": true}\n'
    request = ScoreRequest(**SCORING, resamples=0)

    def files() -> dict[str, io.BytesIO]:
        return {"gold": io.BytesIO(gold), "predictions": io.BytesIO(b'{"id": 1, "score": 1}\n')}

    assert jobs.run(request, files()) == jobs.JOBS["score"](files(), msgspec.to_builtins(request))
