"""Equal inputs give equal bytes: in different processes, with different hash seeds and users, for every task.

The processor type set for linear algebra is not passed into a sandbox's clean environment, so this process differs
from the sandbox as another machine would.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator.sandbox.contract import Execution, Limits, Verdict
from evaluator.sandbox.process.client import ProcessSandbox
from evaluator.sandbox.process.launch import ROOT
from evaluator.tasks.registry import TASKS
from tests.evaluator.sandbox.process import scoring_again
from tests.evaluator.sandbox.process.conftest import launch_at
from tests.evaluator.sandbox.process.variants import ENVIRONMENTS, NOBODY, shared_folder

LIMITS = Limits(wall_seconds=60, cpu_seconds=60, memory_bytes=2 << 30)
HASH_SEEDS = ("0", "1", "4294967295")
PROCESSORS = ("Nehalem", "Sandybridge", "Haswell")
"""Processor types that OpenBLAS accepts as a setting; each sums in its own order."""
Case = tuple[str, dict[str, str], str, str]


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> list[Case]:
    """(task, options, gold, predictions) of every task's small samples and every fixture's first system."""
    folder = tmp_path_factory.mktemp("samples")
    all_cases: list[Case] = []
    for task, pairs in ((task.name, task.samples) for task in TASKS.values()):
        for number, pair in enumerate(pairs):
            paths = [folder / f"{task}-{number}-{kind}.jsonl" for kind in ("gold", "predictions")]
            for path, content in zip(paths, pair, strict=True):
                path.write_bytes(content)
            all_cases.append((task, {}, *map(str, paths)))
    for manifest in sorted((ROOT / "fixtures").glob("*/benchmark.json")):
        all_cases += _first_system(manifest)
    return all_cases


def _first_system(manifest: Path) -> list[Case]:
    benchmark: dict[str, Any] = json.loads(manifest.read_text())
    system = next((system for system in benchmark["systems"] if "predictions" in system), None)
    if system is None:
        return []
    phase = next(phase for phase in benchmark["phases"] if phase["slug"] == system["phase"])
    gold = next(split["gold"] for split in benchmark["splits"] if split["name"] == phase["split"])
    files = (str(manifest.parent / gold), str(manifest.parent / system["predictions"]))
    return [(benchmark["task"], phase.get("options", {}), *files)]


@pytest.fixture(scope="module")
def servers() -> Iterator[list[ProcessSandbox]]:
    """At least two servers, for root and nobody; an isolated Python chooses a random hash seed for each."""
    environments = [
        environment
        for environment in ENVIRONMENTS
        if environment.name in ("root", "user") and not environment.possible()
    ]
    environments += environments[: 2 - len(environments)]
    boxes = [
        launch_at(environment, shared_folder(NOBODY if environment.user else None), jobs="evaluator.jobs")
        for environment in environments
    ]
    yield [box.client for box in boxes]
    for box in boxes:
        box.server.terminate()
        box.server.wait(30)


def in_a_fresh_process(cases: list[Case], hash_seed: str, processor: str) -> list[list[str]]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.evaluator.sandbox.process.scoring_again"],
        input=json.dumps(cases).encode(),
        env={**os.environ, "PYTHONHASHSEED": hash_seed, "OPENBLAS_CORETYPE": processor},
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    digests: list[list[str]] = json.loads(done.stdout)
    return digests


def in_a_sandbox(client: ProcessSandbox, case: Case) -> list[str]:
    task, options, gold, predictions = case
    with Path(gold).open("rb") as gold_file, Path(predictions).open("rb") as file:
        execution = Execution(
            job="score",
            arguments=scoring_again.arguments(task, options),
            files={"gold": gold_file.fileno(), "predictions": file.fileno()},
            limits=LIMITS,
        )
        result = client.run(execution)
    assert result.verdict is Verdict.DONE and result.report is not None, case
    assert result.report["ok"] == bool(result.attachment)
    return scoring_again.digests(result.report, result.attachment)


def test_every_task_gives_the_same_bytes_in_each_process_and_sandbox(
    cases: list[Case], servers: list[ProcessSandbox]
) -> None:
    assert {case[0] for case in cases} == set(TASKS)
    assert len(servers) == 2
    expected = in_a_fresh_process(cases, HASH_SEEDS[0], PROCESSORS[0])
    nothing = scoring_again.digests({}, b"")[1]
    assert {case[0] for case, digests in zip(cases, expected, strict=True) if digests[1] != nothing} == set(TASKS)
    for seed, processor in zip(HASH_SEEDS[1:], PROCESSORS[1:], strict=True):
        assert in_a_fresh_process(cases, seed, processor) == expected
    for client in servers:
        for case, digests in zip(cases, expected, strict=True):
            assert in_a_sandbox(client, case) == digests, case
            assert in_a_sandbox(client, case) == digests, "the second run in one server"


def test_the_seed_changes_intervals_and_not_outcomes(
    cases: list[Case], monkeypatch: pytest.MonkeyPatch, servers: list[ProcessSandbox]
) -> None:
    """Otherwise the test above would not compare any resampling."""
    fixtures = [case for case in cases if "fixtures" in case[2]]
    before = [in_a_sandbox(servers[0], case) for case in fixtures]
    monkeypatch.setattr(scoring_again, "SEED", 8)
    after = [in_a_sandbox(servers[0], case) for case in fixtures]
    assert [attachment for _, attachment in before] == [attachment for _, attachment in after]
    assert any(ours[0] != theirs[0] for ours, theirs in zip(before, after, strict=True))
