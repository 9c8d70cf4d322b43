"""Time of scoring ranked mentions and extracted facts by size: printed, not asserted.

Run with `pytest tests/benchmark -m benchmark -s`. It measures from bytes in memory to scores, with all validation; each
size runs in a separate process with one BLAS thread, as in the sandbox, which isolates its time and peak memory.
For comparison it measures json.loads and the plain loops of the tests' oracle, like a script written by hand.
"""

import io
import json
import random

import pytest

from evaluator.jobs import JOBS
from tests.benchmark.support.measuring import SIZES, grown, timed
from tests.evaluator.tasks.link_prediction import lp_oracle

pytestmark = pytest.mark.benchmark
UNITS = 20_000
LIMITS = {"file_bytes": 1 << 30}


def rankings(n):
    """Yield n questions x 50 mentions; every second ranking has an answer, every fifth mention occurs twice."""
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
    """Yield n texts with 10 gold facts of 50 relations and 10 predicted ones, half of them right."""
    draw = random.Random(1)

    def fact():
        return [f"subject {draw.randrange(20)}", f"relation {draw.randrange(50)}", f"object {draw.randrange(99)}"]

    for i in range(n):
        gold = [fact() for _ in range(10)]
        yield {"id": i, "facts": gold}, {"id": i, "facts": gold[:5] + [fact() for _ in range(5)]}


MAKERS = {"link-prediction": rankings, "fact-extraction": extractions}


def files(task, n):
    """Return gold and predictions as bytes, generated line by line."""
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


def measured(way, task, n, resamples):
    """Return the work's timer, and the megabytes of predictions."""
    gold, predictions = files(task, n)
    by_job(task, *files(task, 2), resamples=2)
    return timed(lambda: way(task, gold, predictions, resamples)), len(predictions) / 1e6


def table(in_new_process, task, way, resamples, sizes=SIZES):
    first = None
    for size in sizes:
        timer, read = in_new_process(measured, way, task, UNITS * size, resamples)
        first = first or timer
        print(f"  {way.__name__}, {resamples} resamples, {read:.0f} MB, {grown(timer, first, size)}")


def test_rankings(in_new_process):
    print(f"\n1x: {UNITS:,} questions, 50 mentions each")
    table(in_new_process, "link-prediction", by_job, 0)
    table(in_new_process, "link-prediction", by_job, 1000)
    table(in_new_process, "link-prediction", by_hand, 0, (1,))


def test_extractions(in_new_process):
    print(f"\n1x: {UNITS:,} texts, 10 gold and 10 predicted facts each, 50 relations")
    table(in_new_process, "fact-extraction", by_job, 0)
    table(in_new_process, "fact-extraction", by_job, 1000, SIZES[:2])
