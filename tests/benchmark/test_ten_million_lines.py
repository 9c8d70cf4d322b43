"""Time and memory of validating and scoring ten million predictions: printed, not asserted. Takes 2 GB of disk.

Run with `bin/test -m benchmark -s tests/benchmark/test_ten_million_lines.py`. READING_LINES: another number of lines.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evaluator.jobs import JOBS
from tests.benchmark.support.measuring import Timer

pytestmark = pytest.mark.benchmark
LINES = int(os.environ.get("READING_LINES", "10000000"))
LABELS = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
PIECE = 100_000


def write(folder: Path) -> None:
    draw = np.random.default_rng(0)
    order, labels = draw.permutation(LINES).tolist(), draw.integers(0, 3, LINES).tolist()
    with (
        (folder / "gold").open("w") as gold,
        (folder / "inputs").open("w") as inputs,
        (folder / "predictions").open("w") as predictions,
    ):
        for begin in range(0, LINES, PIECE):
            numbers = range(begin, min(begin + PIECE, LINES))
            claims = [f'{{"id": "c{i}", "claim": "the claim of number {i}"' for i in numbers]
            inputs.writelines(f"{claim}}}\n" for claim in claims)
            gold.writelines(
                f'{claim}, "label": "{LABELS[i % 3]}"}}\n' for i, claim in zip(numbers, claims, strict=True)
            )
            predictions.writelines(
                f'{{"id": "c{order[i]}", "predicted_label": "{LABELS[labels[i]]}"}}\n' for i in numbers
            )


def job(folder: Path, name: str, files: tuple[str, ...], arguments: dict[str, Any]) -> str:
    opened = {file: (folder / file).open("rb") for file in files}
    with Timer() as timer:
        report, _ = JOBS[name](opened, {"task": "fact-verification", "predictions_name": "predictions", **arguments})
    assert report["ok"], report
    return f"{name}: {timer}"


def test_ten_million_lines(in_new_process: Any, monkeypatch: Any, tmp_path: Path, capsys: Any) -> None:
    monkeypatch.setenv("HOLDOUT_MAX_FILE_MB", "2000")
    in_new_process(write, tmp_path)
    lines = [
        in_new_process(job, tmp_path, "validate", ("inputs", "predictions"), {"inputs_name": "inputs"}),
        in_new_process(job, tmp_path, "score", ("gold", "predictions"), {"gold_name": "gold"}),
    ]
    with capsys.disabled():
        print(f"\n  {LINES:,} predictions for as many claims", *lines, sep="\n    ")
    for file in tmp_path.iterdir():
        file.unlink()
