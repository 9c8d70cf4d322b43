"""The product's jobs in the sandbox return the same bytes as in this process, for valid and invalid files.

These tests show that warm_up() imports every module, and that the list of allowed system calls is complete.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator.jobs import JOBS
from evaluator.jobs.audit import NAMES
from evaluator.sandbox.contract import Execution, Limits, Result, Verdict
from evaluator.sandbox.process.launch import ROOT
from tests.evaluator.sandbox.process.conftest import Box, launch_at
from tests.evaluator.sandbox.process.variants import ENVIRONMENTS, NOBODY, Environment, shared_folder
from tests.support.scoring_runs import taken_by

FIXTURES = ROOT / "fixtures"
LIMITS = Limits(wall_seconds=60, cpu_seconds=60, memory_bytes=2 << 30)


@pytest.fixture(scope="session")
def evaluator_box(environment: Environment) -> Iterator[Box]:
    box = launch_at(environment, shared_folder(NOBODY if environment.user else None), jobs="evaluator.jobs")
    yield box
    box.server.terminate()
    assert box.server.wait(30) == 0


@pytest.fixture(scope="session")
def one_evaluator_box() -> Iterator[Box]:
    """One server, in the most common environment, for tests that depend only on the filter."""
    environment = next(
        environment
        for environment in sorted(ENVIRONMENTS, key=lambda environment: not environment.user)
        if not environment.possible()
    )
    box = launch_at(environment, shared_folder(NOBODY if environment.user else None), jobs="evaluator.jobs")
    yield box
    box.server.terminate()
    assert box.server.wait(30) == 0


def phases() -> list[tuple[str, dict[str, Any], Path, Path]]:
    """(task, options, gold, predictions) of every fixture system that has a file."""
    cases = []
    for manifest in sorted(FIXTURES.glob("*/benchmark.json")):
        benchmark = json.loads(manifest.read_text())
        splits = {split["name"]: split["gold"] for split in benchmark["splits"]}
        options = {phase["slug"]: (phase.get("options", {}), splits[phase["split"]]) for phase in benchmark["phases"]}
        for system in (system for system in benchmark["systems"] if "predictions" in system):
            phase_options, gold = options[system["phase"]]
            cases.append(
                (benchmark["task"], phase_options, manifest.parent / gold, manifest.parent / system["predictions"])
            )
    return cases


def both(box: Box, job: str, arguments: dict[str, Any], **paths: Path) -> tuple[Result, tuple[dict[str, Any], bytes]]:
    """Results of the job in the sandbox and in this process."""
    arguments = taken_by(job, arguments)
    opened = {name: path.open("rb") for name, path in paths.items()}
    try:
        files = {name: file.fileno() for name, file in opened.items()}
        result = box.client.run(Execution(job=job, arguments=arguments, files=files, limits=LIMITS))
        return result, JOBS[job](opened, arguments)
    finally:
        for file in opened.values():
            file.close()


Case = tuple[str, dict[str, Any], Path, Path]
CASES = phases()


@pytest.mark.parametrize("task", sorted({case[0] for case in CASES}))
def test_a_system_of_each_task_in_each_environment(evaluator_box: Box, task: str, tmp_path: Path) -> None:
    assert_same_result_in_and_outside_the_sandbox(
        evaluator_box, next(case for case in CASES if case[0] == task), tmp_path
    )


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id="/".join(case[3].parts[-4:]), marks=pytest.mark.slow if number % 5 else ())
        for number, case in enumerate(CASES)
    ],
)
def test_every_system(one_evaluator_box: Box, case: Case, tmp_path: Path) -> None:
    assert_same_result_in_and_outside_the_sandbox(one_evaluator_box, case, tmp_path)


def assert_same_result_in_and_outside_the_sandbox(evaluator_box: Box, case: Case, tmp_path: Path) -> None:
    task, options, gold, predictions = case
    arguments = {"task": task, "options": options, "resamples": 50, "seed": 3}
    arguments |= {"gold_name": "gold.jsonl", "inputs_name": "inputs.jsonl", "predictions_name": "predictions.jsonl"}
    prepared, local = both(evaluator_box, "prepare_gold", arguments, gold=gold)
    assert (prepared.verdict, prepared.report, prepared.attachment) == (Verdict.DONE, *local)
    assert prepared.report is not None and prepared.report["ok"]
    (tmp_path / "inputs").write_bytes(prepared.attachment)
    arguments["expects"] = prepared.report["expects"]
    validated, local = both(evaluator_box, "validate", arguments, inputs=tmp_path / "inputs", predictions=predictions)
    assert (validated.report, validated.attachment) == local
    assert validated.report is not None and validated.report["ok"]
    scored, local = both(evaluator_box, "score", arguments, gold=gold, predictions=predictions)
    assert scored.report == json.loads(json.dumps(local[0]))
    assert scored.report is not None and scored.report["ok"]
    assert scored.attachment == local[1]
    (tmp_path / "outcomes").write_bytes(scored.attachment)
    comparison = {"pairs": [[0, 1]], "measure": scored.report["primary"], "resamples": 50}
    compared, local = both(
        evaluator_box, "compare_board", comparison, **dict.fromkeys(("0", "1"), tmp_path / "outcomes")
    )
    assert compared.report == json.loads(json.dumps(local[0])) and compared.report["ok"]
    plotted, _ = both(evaluator_box, "plot_data", {}, table=tmp_path / "outcomes")
    assert plotted.report == {"ok": True, "plot_data": scored.report["plot_data"]}


@pytest.mark.parametrize("task", sorted({case[0] for case in CASES}))
@pytest.mark.parametrize("part", NAMES)
def test_each_part_of_an_audit(one_evaluator_box: Box, task: str, part: str, tmp_path: Path) -> None:
    """Each part of an audit of the hidden split, with its inputs and a training split that leaks."""
    _, options, gold, _ = next(case for case in CASES if case[0] == task)
    arguments = {"task": task, "options": options, "part": part, "train_names": ["train.jsonl"]}
    arguments |= {"gold_name": "gold.jsonl", "inputs_name": "inputs.jsonl"}
    with gold.open("rb") as file:
        (tmp_path / "inputs").write_bytes(JOBS["prepare_gold"]({"gold": file}, taken_by("prepare_gold", arguments))[1])
    files = {"gold": gold, "inputs": tmp_path / "inputs", "0": gold}
    result, local = both(one_evaluator_box, "audit_part", arguments, **files)
    assert (result.verdict, result.report) == (Verdict.DONE, json.loads(json.dumps(local[0])))
    assert result.report is not None and result.report["ok"] and result.report["part"]["keys"]


@pytest.mark.parametrize("task", sorted({case[0] for case in CASES}))
def test_the_difference_of_corrected_gold(one_evaluator_box: Box, task: str, tmp_path: Path) -> None:
    """Fewer items in another order, each with an extra key that is not scored, compressed."""
    _, options, gold, _ = next(case for case in CASES if case[0] == task)
    lines = gold.read_bytes().splitlines(keepends=True)
    after = b"".join(line.replace(b"{", b'{"remark": 1, ', 1) for line in lines[:0:-1])
    (tmp_path / "after").write_bytes(gzip.compress(after, mtime=0))
    arguments = {"task": task, "options": options, "before_name": "before.jsonl", "after_name": "after.jsonl.gz"}
    result, local = both(one_evaluator_box, "gold_difference", arguments, before=gold, after=tmp_path / "after")
    assert (result.verdict, result.report) == (Verdict.DONE, json.loads(json.dumps(local[0])))
    assert result.attachment == local[1]
    counts = {kind: n for kind, n in result.report["counts"]["by_kind"].items() if n}
    assert counts == {"other": len(lines) - 1, "removed": 1} and result.report["counts"]["reordered"]


LINE = b'{"id": "a", "predicted_label": "SUPPORTS"}\n'
BAD = {
    "empty": b"",
    "white space": b" \n\t\n",
    "BOM": b"\xef\xbb\xbf" + LINE,
    "UTF-16": LINE.decode().encode("utf-16"),
    "UTF-32": LINE.decode().encode("utf-32"),
    "bad UTF-8": b'{"id": "\xff\xfe"}\n',
    "lone surrogate": b'{"id": "\\ud800"}\n',
    "NUL": b'{"id": "a\x00b"}\n',
    "CR only": LINE.replace(b"\n", b"\r") * 3,
    "right to left": '{"id": "\u202eab"}\n'.encode(),
    "duplicate keys": b'{"id": 1, "id": 2}\n',
    "NaN": b'{"id": NaN}\n',
    "1e999": b'{"id": 1e999}\n',
    "5,000 digits": b'{"id": ' + b"9" * 5000 + b"}\n",
    "depth 100,000": b'{"id": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
    "truncated": LINE + LINE[:20],
    "trailing garbage": LINE.rstrip() + b" x\n",
    "two documents": LINE.rstrip() + LINE,
    "comments": b"// no\n" + LINE,
    "wrong top type": b"[]\n1\nnull\n",
    "many unknown keys": b"{" + b",".join(b'"k%d": 1' % n for n in range(100_000)) + b"}\n",
    "unknown label": b'{"id": "a", "predicted_label": "MAYBE"}\n',
    "unknown id": LINE,
    "8 MB label": b'{"id": "a", "predicted_label": "' + b"x" * (8 << 20) + b'"}\n',
    "100,000 lines": b'{"id": 1}\n' * 100_000,
    "pickle": b"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00\x8c\x01a\x94.",
    "code": b"__import__('os').system('id')\n",
}


GOLD = {case[0]: case[2].with_name("dev.jsonl") for case in CASES}  # a small split for each task with a fixture
BAD_FOR_EACH = {"unknown label", "unknown id", "100,000 lines", "code"}
"""Cases tested with each task; the others are read the same way by every task."""


@pytest.mark.parametrize(
    ("name", "task"),
    [(name, task) for name in BAD for task in sorted(GOLD) if name in BAD_FOR_EACH or task == "fact-verification"],
)
def test_invalid_files_give_the_same_report_in_the_sandbox(
    one_evaluator_box: Box, task: str, name: str, tmp_path: Path
) -> None:
    predictions = tmp_path / "predictions"
    predictions.write_bytes(BAD[name])
    gold = GOLD[task]
    arguments = {"task": task, "gold_name": "gold.jsonl", "predictions_name": "p.jsonl", "resamples": 0}
    result, (report, attachment) = both(one_evaluator_box, "score", arguments, gold=gold, predictions=predictions)
    assert (result.verdict, result.report, result.attachment) == (Verdict.DONE, report, attachment)
    assert report["ok"] is False and report["fault"] == "predictions" and report["problems"]
    result, (report, _) = both(one_evaluator_box, "prepare_gold", arguments, gold=predictions)
    assert (result.verdict, result.report) == (Verdict.DONE, report)
    assert report["ok"] is False and report["fault"] == "gold"


@pytest.mark.parametrize("kind", ["bomb", "truncated", "no gzip", "wrong checksum", "two members"])
def test_invalid_compressed_files_give_the_same_report_in_the_sandbox(
    one_evaluator_box: Box, kind: str, tmp_path: Path
) -> None:
    good = gzip.compress(LINE * 100, mtime=0)
    content = {
        "bomb": gzip.compress(bytes(300 << 20), mtime=0),
        "truncated": good[:-10],
        "no gzip": LINE,
        "wrong checksum": good[:-8] + bytes(4) + good[-4:],
        "two members": good * 2,
    }[kind]
    predictions = tmp_path / "p.gz"
    predictions.write_bytes(content)
    arguments = {"task": "fact-verification", "gold_name": "g.jsonl", "predictions_name": "p.jsonl.gz", "resamples": 0}
    gold = FIXTURES / "mirror-claims/splits/dev.jsonl"
    result, (report, _) = both(one_evaluator_box, "score", arguments, gold=gold, predictions=predictions)
    assert (result.verdict, result.report) == (Verdict.DONE, report)
    assert report["ok"] is False


@pytest.mark.realdata
@pytest.mark.parametrize("name", ["real_predictions.jsonl"])
def test_published_predictions(one_evaluator_box: Box, realdata: Path, name: str) -> None:
    """Ten thousand claims, with every interval."""
    gold, predictions = realdata / "fever/gold_paper_dev.jsonl", realdata / "fever/predictions" / name
    if not predictions.exists():
        pytest.skip(f"{name} does not exist")
    arguments = {"task": "fact-verification", "options": {"max_evidence": "5"}, "resamples": 200, "seed": 0}
    arguments |= {"gold_name": "gold.jsonl", "predictions_name": "predictions.jsonl"}
    result, local = both(one_evaluator_box, "score", arguments, gold=gold, predictions=predictions)
    assert result.report is not None and result.attachment == local[1]
    # A BLAS with more threads than the sandbox's single one may sum in another order, so the last digits may differ.
    assert result.report["result"]["scores"] == [
        score | {bound: pytest.approx(score[bound], abs=1e-12) for bound in ("value", "low", "high")}
        for score in local[0]["result"]["scores"]
    ]


def test_wrong_usage_is_reported(one_evaluator_box: Box) -> None:
    result = one_evaluator_box.client.run(Execution(job="score", arguments={"task": "nonsense"}))
    assert result.report is not None and result.report["fault"] == "usage"


def test_missing_files_end_the_job_without_details(one_evaluator_box: Box) -> None:
    """Missing files are an error of the calling program: the job exits, and a participant sees no details."""
    arguments = {"task": "fact-verification", "gold_name": "g", "predictions_name": "p"}
    result = one_evaluator_box.client.run(Execution(job="score", arguments=arguments))
    assert (result.verdict, result.report) == (Verdict.EXIT, None)
    assert os.fspath(ROOT) not in repr(result)
