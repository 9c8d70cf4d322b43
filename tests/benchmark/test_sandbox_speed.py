"""Latency of a sandbox: printed, not asserted. Run with `pytest tests/benchmark/test_sandbox_speed.py -s`."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator.sandbox.contract import Execution, Limits, Result, Verdict
from evaluator.sandbox.process.client import ProcessSandbox
from evaluator.sandbox.process.launch import ROOT, start

pytestmark = pytest.mark.benchmark

HOSTILE = ROOT / "tests/evaluator/sandbox/process"
LIMITS = Limits(memory_bytes=2 << 30)


@pytest.fixture(scope="module", params=["hostile_jobs", "evaluator.jobs"])
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ProcessSandbox]:
    socket = tmp_path_factory.mktemp("s") / "s"
    server = start(socket, jobs=request.param, paths=[HOSTILE])
    yield ProcessSandbox(socket)
    server.terminate()
    server.wait()


def show(what: str, results: list[Result]) -> None:
    assert {result.verdict for result in results} == {Verdict.DONE}
    total = sorted(result.wall_seconds * 1000 for result in results)
    ready = statistics.median(result.start_seconds * 1000 for result in results)
    print(
        f"\n{what}: median {statistics.median(total):.1f} ms from request to result, "
        f"{total[int(len(total) * 0.9)]:.1f} ms at the ninetieth percentile, ready after {ready:.1f} ms"
    )


@pytest.mark.parametrize("client", ["hostile_jobs"], indirect=True)
@pytest.mark.parametrize("job", ["empty", "numbers"])
def test_small_jobs(client: ProcessSandbox, job: str) -> None:
    """`numbers` sorts the means of 1,000 x 300 normal draws."""
    show(job, [client.run(Execution(job=job, limits=LIMITS)) for _ in range(200)])


@pytest.mark.parametrize("client", ["evaluator.jobs"], indirect=True)
@pytest.mark.realdata
def test_scoring_knowledgenet(client: ProcessSandbox, realdata: Path) -> None:
    """Scores fold 4 with 1,000 resamples of every measure and property, in the sandbox."""
    folder = realdata / "knowledgenet"
    predictions = sorted((folder / "predictions").glob("*.jsonl"))[0]
    arguments: dict[str, Any] = {"task": "knowledge-base-population", "options": {"fold": "4"}, "resamples": 1000}
    arguments |= {"gold_name": "gold.jsonl", "predictions_name": "predictions.jsonl", "seed": 0}
    with (folder / "gold_folds_1_to_4.jsonl").open("rb") as gold, predictions.open("rb") as answers:
        files = {"gold": gold.fileno(), "predictions": answers.fileno()}
        execution = Execution(job="score", arguments=arguments, files=files, limits=LIMITS)
        results = [client.run(execution) for _ in range(10)]
    assert all(result.report and result.report["ok"] for result in results), json.dumps(results[0].report)[:500]
    show(f"score KnowledgeNet fold 4 ({predictions.name})", results)
