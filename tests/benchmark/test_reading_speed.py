"""Time and memory of reading gold and predictions at 1, 16 and 256 times the size: printed, not asserted.

Run with `bin/test -m benchmark -s tests/benchmark/test_reading_speed.py`. Sizes beyond the limits of a file are read
with higher limits. Dictionaries of ids outgrow the processor's caches, so time grows faster than the number of lines.
The goal is 18 times the processor time at 16 times the size. fact-checking misses it with 18 to 19. What did not help:
gold in columns of text instead of objects (no page faults where there were 7,000 to 10,000, but a quarter more time at
160,000 lines), and line numbers of 4 instead of 8 bytes for predictions. So page faults are not the reason. Cache
misses are the suspicion that is left; they were not measured.

READING_SIZES: other sizes, such as 1,1000.
"""

from __future__ import annotations

import io
import os
import random
from typing import Any

import pytest

from evaluator.jsonl.decompress import ReadLimits
from evaluator.tasks.registry import TASKS
from tests.benchmark.support.measuring import grown, median

pytestmark = pytest.mark.benchmark
SIZES = [int(size) for size in os.environ.get("READING_SIZES", "1,16,256").split(",")]
CLAIMS = 10_000
LABELS = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")
LIMITS = {"file_bytes": 1 << 34, "lines": 1 << 32, "line_bytes": 1 << 20}


def files_of_claims(task: str, n: int) -> tuple[bytes, bytes]:
    """Return gold of n claims, and predictions in another order."""
    draw = random.Random(0)
    order = draw.sample(range(n), n)
    if task == "fact-checking":
        gold = [
            f'{{"id": {i}, "subject": "s{i % 9973}", "relation": "r{i % 50}", "object": "o{i % 7919}", '
            f'"label": {("true", "false")[i % 2]}}}'
            for i in range(n)
        ]
        predictions = [f'{{"id": {i}, "score": {draw.random():.6f}}}' for i in order]
    else:
        gold = [f'{{"id": "c{i}", "claim": "the claim of number {i}", "label": "{LABELS[i % 3]}"}}' for i in range(n)]
        predictions = [f'{{"id": "c{i}", "predicted_label": "{draw.choice(LABELS)}"}}' for i in order]
    return "\n".join(gold).encode(), "\n".join(predictions).encode()


def reading(task_name: str, n: int) -> list[Any]:
    """Return timers of reading gold and predictions."""
    task = TASKS[task_name]
    options, limits = task.parse_options({}), ReadLimits(**LIMITS)
    gold_file, prediction_file = files_of_claims(task_name, n)
    times = 5 if n <= 16 * CLAIMS else 1
    gold = median(lambda: task.read_gold(io.BytesIO(gold_file), "g", options, limits), times)
    known = task.validation_data(task.read_gold(io.BytesIO(gold_file), "g", options, limits))
    predictions = median(lambda: task.read_predictions(io.BytesIO(prediction_file), "p", known, options, limits), times)
    return [gold, predictions]


@pytest.mark.parametrize("task", ["fact-checking", "fact-verification"])
def test_reading_by_size(in_new_process: Any, capsys: Any, task: str) -> None:
    firsts = None
    for size in SIZES:
        timers = in_new_process(reading, task, size * CLAIMS)
        firsts = firsts or timers
        with capsys.disabled():
            print(f"\n  {task}, {size * CLAIMS:,} claims")
            for name, timer, first in zip(("gold", "predictions"), timers, firsts, strict=True):
                print(f"    {name:<12} {grown(timer, first, size)}")
