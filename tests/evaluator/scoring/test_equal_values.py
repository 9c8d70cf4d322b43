"""Values that are equal in exact arithmetic are equal in reports, in any order of units: boards need it for ties."""

import io
import itertools
import json

import numpy as np
import pytest

from evaluator.jobs import JOBS

RANKS = (1, 1, 3, 7, 11)


def mrr(ranks):
    gold = [{"id": i, "question": ["a", "r", "?"], "answers": ["A"], "filtered": []} for i in range(len(ranks))]
    answers = [{"id": i, "ranking": [*map(str, range(rank - 1)), "A"]} for i, rank in enumerate(ranks)]
    report = job("score", "link-prediction", gold=gold, predictions=answers)
    return next(score for score in report["result"]["scores"] if score["measure"] == "mrr" and not score["slice"])


def job(name, task, resamples=0, **files):
    sent = {
        kind: io.BytesIO("".join(json.dumps(line) + "\n" for line in lines).encode()) for kind, lines in files.items()
    }
    report, _ = JOBS[name](sent, {"task": task, "resamples": resamples, **{f"{kind}_name": kind for kind in files}})
    assert report["ok"], report
    return report


def test_the_order_of_questions_does_not_change_the_value():
    values = {mrr(ranks)["value"] for ranks in itertools.permutations(RANKS)}
    assert len(values) == 1
    assert values.pop() == pytest.approx(sum(1 / rank for rank in RANKS) / len(RANKS), abs=1e-12)


def test_ranks_with_an_equal_sum_of_reciprocals_have_an_equal_value():
    # 1/3 + 1/6 = 1/2 + 0, and neither third nor sixth is a binary fraction.
    assert mrr((3, 6))["value"] == 0.25 == mrr((2, 10**3))["value"] - 0.0005


@pytest.mark.parametrize("seed", range(5))
def test_swapping_two_systems_changes_only_signs(seed):
    random = np.random.default_rng(seed)
    gold = [{"id": i, "human": float(value)} for i, value in enumerate(random.normal(size=40))]
    a, b = ([{"id": i, "score": float(value)} for i, value in enumerate(random.normal(size=40))] for _ in "ab")
    forward, reverse = (
        job("compare", "metric-correlation", resamples=200, gold=gold, predictions_a=first, predictions_b=second)
        for first, second in ((a, b), (b, a))
    )
    for row, mirrored in zip(forward["result"]["comparisons"], reverse["result"]["comparisons"], strict=True):
        assert (row["a"], row["b"], row["p"]) == (mirrored["b"], mirrored["a"], mirrored["p"])
        assert row["difference"] == -mirrored["difference"]
        assert (row["low"], row["high"]) == (-mirrored["high"], -mirrored["low"])
