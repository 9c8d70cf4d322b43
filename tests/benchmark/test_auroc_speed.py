"""Time of scoring claims by size, compared with scikit-learn on the same arrays; it is printed and not asserted.

Run with `pytest tests/benchmark/test_auroc_speed.py -m benchmark -s`. Arrays are in memory and everything is imported.
Each size runs in a separate process with one BLAS thread, as in the sandbox. Processor seconds vary less on a machine
that does other work too.
"""

import io

import numpy as np
import pytest

from evaluator.jobs import JOBS
from evaluator.outcomes.table import Outcomes
from evaluator.scoring.score import score_outcomes
from evaluator.tasks.registry import TASKS
from tests.benchmark.support.measuring import Timer, median

pytestmark = pytest.mark.benchmark
CLAIMS = 1_000_000
TEXTS = 20_000


def claims(n, decimals):
    random = np.random.default_rng(0)
    labels = random.random(n) < 0.5
    scores = random.normal(size=n) + labels
    return labels, scores if decimals is None else scores.round(decimals)


def checked(labels, scores):
    n = len(labels)
    statistics = {"claim": np.ones(n), "positive": labels.astype(np.float64), "score": scores}
    return Outcomes("fact-checking", 1, n, tuple(range(n)), np.arange(n, dtype=np.int32), statistics, {})


def beside_scikit_learn(n, decimals):
    from sklearn.metrics import average_precision_score, roc_auc_score

    labels, scores = claims(n, decimals)
    table = checked(labels, scores)
    auroc, precision = TASKS["fact-checking"].measures
    times = {}
    for name, measures, reference in (
        ("AUROC", (auroc,), lambda: (roc_auc_score(labels, scores),)),
        (
            "AUROC and average precision",
            (auroc, precision),
            lambda: (roc_auc_score(labels, scores), average_precision_score(labels, scores)),
        ),
    ):
        ours = [score.value for score in score_outcomes(table, measures, resamples=0)]
        assert ours == pytest.approx(reference(), abs=1e-9)
        times[name] = (
            str(our_time := median(lambda measures=measures: score_outcomes(table, measures, resamples=0))),
            str(their_time := median(reference)),
            their_time.processor / our_time.processor,
        )
    return times


@pytest.mark.parametrize("decimals", [None, 2], ids=["distinct scores", "scores of two decimals"])
def test_compared_with_scikit_learn(in_new_process, decimals):
    print()
    for name, (ours, theirs, times) in in_new_process(beside_scikit_learn, CLAIMS, decimals).items():
        print(f"  {name}, {CLAIMS:,} claims, outcomes to scores: {ours}")
        print(f"    scikit-learn: {theirs}; ours is {times:.1f} times as fast")


def resampled(n, resamples):
    table = checked(*claims(n, None))
    with Timer() as timer:
        score_outcomes(table, TASKS["fact-checking"].measures, resamples=resamples)
    return str(timer)


@pytest.mark.parametrize("n", [TEXTS, CLAIMS // 16, CLAIMS // 4, CLAIMS])
def test_a_thousand_resamples(in_new_process, n):
    print(
        f"\n  AUROC and average precision of {n:,} claims, 1,000 resamples: {in_new_process(resampled, n, 1000)}",
        end="",
    )


def from_bytes(n, resamples):
    labels, scores = claims(n, None)
    gold = "".join(
        f'{{"id": "claim-{i}", "subject": "s{i % 999}", "relation": "r{i % 7}", "object": "o{i % 99}", "label": '
        f"{'true' if label else 'false'}}}\n"
        for i, label in enumerate(labels.tolist())
    )
    predictions = "".join(f'{{"id": "claim-{i}", "score": {score!r}}}\n' for i, score in enumerate(scores.tolist()))
    files = {"gold": io.BytesIO(gold.encode()), "predictions": io.BytesIO(predictions.encode())}
    del gold, predictions
    with Timer() as timer:
        report, _ = JOBS["score"](
            files, {"task": "fact-checking", "gold_name": "g", "predictions_name": "p", "resamples": resamples}
        )
    assert report["ok"]
    return str(timer)


@pytest.mark.parametrize("n", [CLAIMS // 16, CLAIMS // 4, CLAIMS])
def test_from_bytes_to_scores(in_new_process, n):
    print(f"\n  {n:,} claims of seven relations, bytes to scores: {in_new_process(from_bytes, n, 0)}", end="")


def correlated(n, resamples, which):
    random = np.random.default_rng(0)
    human = random.integers(0, 9, n) / 4
    statistics = {
        "text": np.ones(n),
        "human": human,
        "score": human + random.normal(size=n),
        "system": random.integers(0, 9, n).astype(np.float64),
    }
    groups = np.arange(n, dtype=np.int32)
    table = Outcomes("metric-correlation", 1, n, tuple(range(n)), groups, statistics, {}, facts={"system": True})
    measures = [measure for measure in TASKS["metric-correlation"].measures if measure.name in which]
    with Timer() as timer:
        score_outcomes(table, measures, resamples=resamples)
    return str(timer)


@pytest.mark.parametrize(
    "which",
    [("spearman",), ("pearson",), ("kendall",), ("partial_spearman", "partial_pearson")],
    ids=" and ".join,
)
@pytest.mark.parametrize("n", [TEXTS // 16, TEXTS // 4, TEXTS])
def test_correlations(in_new_process, n, which):
    print(
        f"\n  {', '.join(which)} of {n:,} texts, 1,000 resamples: {in_new_process(correlated, n, 1000, which)}", end=""
    )
