"""How long the referee takes: printed, never asserted. Run with `pytest tests/benchmark -m benchmark -s`."""

import io
import json
import statistics
import time
from pathlib import Path

import pytest

from evaluator.operations import JOBS
from evaluator.scoring import score_outcomes
from evaluator.storage import to_bytes
from evaluator.task import TASKS

DATA = Path(__file__).parents[3] / "shared" / "data"
pytestmark = [
    pytest.mark.benchmark,
    pytest.mark.realdata,
    pytest.mark.skipif(not DATA.is_dir(), reason="the published files are not in ../shared/data"),
]
REFERENCE_SECONDS = 0.31  # KnowledgeNet's own evaluator on fold 4, files parsed


def median_seconds(work, times=10):
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        work()
        taken.append(time.perf_counter() - begin)
    return statistics.median(taken)


def report(what, seconds, note=""):
    print(f"\n{what}: {1000 * seconds:.1f} ms{note}", end="")


@pytest.fixture(scope="module")
def fold_4():
    gold = (DATA / "knowledgenet" / "gold_folds_1_to_4.jsonl").read_bytes()
    lines = [line + b"\n" for line in gold.splitlines() if json.loads(line)["fold"] == 4]
    return b"".join(lines), (DATA / "knowledgenet" / "predictions" / "noisy_seed1.jsonl").read_bytes()


def test_knowledgenet_fold_4(fold_4):
    gold_bytes, prediction_bytes = fold_4
    task = TASKS["knowledge-base-population"]
    options = task.parse_options({"fold": "4"})
    gold = task.read_gold(io.BytesIO(gold_bytes), "gold", options)
    answers = task.read_predictions(io.BytesIO(prediction_bytes), "predictions", task.known(gold), options)

    def score(resamples):
        outcomes = task.score(gold, answers, options)
        return outcomes, score_outcomes(outcomes, task.measures, resamples=resamples)

    report("read gold", median_seconds(lambda: task.read_gold(io.BytesIO(gold_bytes), "gold", options)))
    report(
        "read predictions",
        median_seconds(lambda: task.read_predictions(io.BytesIO(prediction_bytes), "p", task.known(gold), options)),
    )
    alone = median_seconds(lambda: score(0))
    report("score without intervals", alone, f", {REFERENCE_SECONDS / alone:.0f} times as fast as the reference")
    outcomes, scores = score(1000)
    report(
        f"{len(scores)} scores with 1,000 resamples",
        median_seconds(lambda: score_outcomes(outcomes, task.measures, resamples=1000)),
    )
    report("store outcomes", median_seconds(lambda: to_bytes(outcomes)), f", {len(to_bytes(outcomes))} bytes")


@pytest.mark.parametrize("resamples", [0, 1000])
def test_fever_bytes_to_scores(resamples):
    gold = (DATA / "fever" / "gold_paper_dev.jsonl").read_bytes()
    predictions = (DATA / "fever" / "predictions" / "real_predictions.jsonl").read_bytes()

    def work():
        done, _ = JOBS["score"](
            {"gold": io.BytesIO(gold), "predictions": io.BytesIO(predictions)},
            {"task": "fact-verification", "gold_name": "g", "predictions_name": "p", "resamples": resamples},
        )
        assert done["ok"]

    report(f"FEVER, 9,999 claims, bytes to scores, {resamples} resamples", median_seconds(work))


def test_a_large_wrong_file(fold_4):
    gold, _ = fold_4
    wrong = b'{"documentId": "no such document", "passageId": "p", "facts": []}\n' * 200_000

    def work():
        done, _ = JOBS["score"](
            {"gold": io.BytesIO(gold), "predictions": io.BytesIO(wrong)},
            {"task": "knowledge-base-population", "gold_name": "g", "predictions_name": "p"},
        )
        assert done["more"] == 200_000 - 100

    report("200,000 wrong lines", median_seconds(work, times=3))
