"""How long ranked mentions and extracted facts take, and how that grows: printed, never asserted.

Run with `pytest tests/benchmark -m benchmark -s`. From bytes in memory to scores, files read with every check; each
size in a process of its own with one BLAS thread, as in the sandbox, so that its time and peak memory are its own.
Beside it json.loads and the plain loops that the tests hold the scorer to: what a script by hand would take.
"""

import io
import json
import multiprocessing
import random
import time
from pathlib import Path

import pytest

from evaluator.operations import JOBS
from evaluator.sandbox.launch import environment
from tests.unit.evaluator import lp_oracle

pytestmark = pytest.mark.benchmark
UNITS = 20_000
SIZES = (1, 4, 16)
LIMITS = {"file_bytes": 1 << 30}


def rankings(n):
    """n questions x 50 mentions; every second ranking holds an answer, every fifth mention comes twice."""
    draw = random.Random(1)
    words = [f"mention {i}" for i in range(20_000)]
    for i in range(n):
        answers, filtered = draw.choices(words, k=3), draw.choices(words, k=5)
        ranking = draw.choices(words, k=40)
        ranking += ranking[::4]
        if i % 2:
            ranking[draw.randrange(50)] = answers[0]
            ranking[0] = filtered[0]
        yield (
            {"id": i, "question": ["s", "r", "?"], "answers": answers, "filtered": filtered},
            {"id": i, "ranking": ranking},
        )


def extractions(n):
    """n texts with 10 gold facts of 50 relations and 10 predicted ones, half of them right."""
    draw = random.Random(1)

    def fact():
        return [f"subject {draw.randrange(20)}", f"relation {draw.randrange(50)}", f"object {draw.randrange(99)}"]

    for i in range(n):
        gold = [fact() for _ in range(10)]
        yield {"id": i, "facts": gold}, {"id": i, "facts": gold[:5] + [fact() for _ in range(5)]}


MAKERS = {"link-prediction": rankings, "fact-extraction": extractions}


def files(task, n):
    """Gold and predictions as bytes, made a line at a time."""
    gold, predictions = io.BytesIO(), io.BytesIO()
    for pair in MAKERS[task](n):
        for file, line in zip((gold, predictions), pair, strict=True):
            file.write(json.dumps(line).encode() + b"\n")
    return gold.getvalue(), predictions.getvalue()


def by_job(task, gold, predictions, resamples):
    report, _ = JOBS["score"](
        {"gold": io.BytesIO(gold), "predictions": io.BytesIO(predictions)},
        {"task": task, "gold_name": "g", "predictions_name": "p", "resamples": resamples, "limits": LIMITS},
    )
    assert report["ok"]


def by_hand(task, gold, predictions, resamples):
    lp_oracle.score(*([json.loads(line) for line in file.splitlines()] for file in (gold, predictions)))


def megabytes(name):
    """VmRSS or VmHWM: what this process holds, or held at most."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition(f"{name}:")[2].split()[0]) / 1024


def measured(way, task, n, resamples):
    """(seconds, seconds of processor, megabytes that the work adds at its peak, megabytes of predictions)"""
    gold, predictions = files(task, n)
    by_job(task, *files(task, 2), resamples=2)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins here
    held, wall, processor = megabytes("VmRSS"), time.perf_counter(), time.process_time()
    way(task, gold, predictions, resamples)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    return wall, processor, megabytes("VmHWM") - held, len(predictions) / 1e6


@pytest.fixture
def apart(monkeypatch):
    """Calls `measured` in a process of its own, whose BLAS has one thread."""
    for name, value in environment().items():
        monkeypatch.setenv(name, value)

    def call(*arguments):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            return pool.apply(measured, arguments)

    return call


def table(apart, task, way, resamples, sizes=SIZES):
    first = None
    for size in sizes:
        wall, processor, memory, read = apart(way, task, UNITS * size, resamples)
        first = first or processor
        print(
            f"  {way.__name__}, {resamples} resamples, {size}x ({read:.0f} MB): {wall:.2f} s, processor "
            f"{processor:.2f} s ({processor / first:.1f} times 1x), peak memory +{memory:.0f} MB"
        )


def test_rankings(apart):
    print(f"\n1x: {UNITS:,} questions, 50 mentions each")
    table(apart, "link-prediction", by_job, 0)
    table(apart, "link-prediction", by_job, 1000)
    table(apart, "link-prediction", by_hand, 0, (1,))


def test_extractions(apart):
    print(f"\n1x: {UNITS:,} texts, 10 gold and 10 predicted facts each, 50 relations")
    table(apart, "fact-extraction", by_job, 0)
    table(apart, "fact-extraction", by_job, 1000, SIZES[:2])
