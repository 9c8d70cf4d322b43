"""Near-duplicates, against definitions in plain loops; sketches must never miss a near-duplicate."""

from __future__ import annotations

import io
import json
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from evaluator.jobs import JOBS
from evaluator.similarity.longest_common_order import longest_common_order
from evaluator.similarity.predictions import (
    SIZE,
    agreement_threshold,
    compute_similarity,
    similarity_sketch,
    sketch_agreement,
)
from evaluator.tasks.answers import CategoricalAnswers, ScoredAnswers, by_score, predicted_or_gold
from evaluator.tasks.registry import TASKS

DRAWS = [np.random.default_rng(seed) for seed in range(20)]


def items(labels: Any, gold: Any) -> CategoricalAnswers:
    labels, gold = np.asarray(labels), np.asarray(gold)
    return CategoricalAnswers(np.arange(len(labels), dtype=np.uint64), (labels + 1).astype(np.uint64), labels != gold)


def test_shares_counted_by_hand() -> None:
    gold = [0, 1, 2, 0, 1, 2, 0, 0]
    a = [0, 1, 2, 1, 2, 2, 1, 0]
    b = [0, 1, 2, 1, 0, 2, 0, 0]
    similarity = compute_similarity(items(a, gold), items(b, gold))
    # Equal on all but the fifth and the seventh; errors on the fourth (equal), the fifth (different), the seventh (a).
    assert (similarity.equal, similarity.shared_errors, similarity.n_units, similarity.n_errors) == (6 / 8, 1 / 3, 8, 3)


def test_units_that_neither_system_answers_are_not_counted() -> None:
    units = np.arange(4, dtype=np.uint64)
    errs = np.ones(4, dtype=np.bool_)
    a = CategoricalAnswers(units, np.array([7, 0, 0, 0], dtype=np.uint64), errs)
    b = CategoricalAnswers(units, np.array([7, 0, 9, 0], dtype=np.uint64), errs)
    assert (compute_similarity(a, b).equal, compute_similarity(a, b).n_units) == (1 / 2, 2)
    unanswered = CategoricalAnswers(units, np.zeros(4, dtype=np.uint64), errs)
    assert (
        compute_similarity(unanswered, unanswered).equal is None
        and not compute_similarity(unanswered, unanswered).is_near_duplicate
    )


def test_facts_are_compared_as_sets() -> None:
    gold = {"g1", "g2", "g3"}
    a, b = {"g1", "g2", "x", "y"}, {"g1", "x", "z"}
    similarity = compute_similarity(predicted_or_gold(a, gold), predicted_or_gold(b, gold))
    wrong_a, wrong_b = a ^ gold, b ^ gold
    assert similarity.equal == len(a & b) / len(a | b)
    assert similarity.shared_errors == len(wrong_a & wrong_b) / len(wrong_a | wrong_b)
    assert (similarity.n_units, similarity.n_errors) == (len(a | b), len(wrong_a | wrong_b))


@pytest.mark.parametrize(("equal_errors", "expected"), [(95, True), (94, False)])
def test_the_threshold_of_shared_errors_is_inclusive(equal_errors: int, expected: bool) -> None:
    n = 10_000
    gold, a, b = np.zeros(n, int), np.zeros(n, int), np.zeros(n, int)
    a[:100] = 1
    b[:equal_errors] = 1
    b[equal_errors:100] = 2
    assert compute_similarity(items(a, gold), items(b, gold)).is_near_duplicate is expected


def test_the_threshold_of_equal_answers_is_inclusive() -> None:
    n = 1000
    gold, a, b = np.zeros(n, int), np.ones(n, int), np.ones(n, int)
    b[:5] = 2
    assert compute_similarity(items(a, gold), items(b, gold)).is_near_duplicate
    b[:6] = 2
    assert not compute_similarity(items(a, gold), items(b, gold)).is_near_duplicate


def test_two_perfect_systems_are_not_near_duplicates() -> None:
    gold = np.arange(50) % 3
    similarity = compute_similarity(items(gold, gold), items(gold, gold))
    assert (similarity.equal, similarity.shared_errors, similarity.is_near_duplicate) == (1.0, None, False)


@pytest.mark.parametrize("draws", DRAWS[:12])
def test_longest_common_order_against_all_subsets(draws: np.random.Generator) -> None:
    n = 9
    a, b = (draws.integers(0, 5, n).astype(float) for _ in "ab")

    def fits(chosen: tuple[int, ...]) -> bool:
        return all(np.sign(a[i] - a[j]) == np.sign(b[i] - b[j]) for i, j in combinations(chosen, 2))

    best = max(size for size in range(n + 1) if any(fits(chosen) for chosen in combinations(range(n), size)))
    assert longest_common_order(a, b) == best


def test_a_monotone_transformation_is_a_near_duplicate_and_noise_is_not() -> None:
    draws = DRAWS[0]
    high = draws.random(2000) < 0.4
    scores = draws.normal(size=2000) + high
    own = by_score(scores, high)
    assert compute_similarity(own, by_score(np.exp(scores) * 3 + 1, high)).is_near_duplicate
    assert not compute_similarity(own, by_score(scores + draws.normal(size=2000) * 0.1, high)).is_near_duplicate
    assert not compute_similarity(own, by_score(-scores, high)).is_near_duplicate


def test_scores_err_on_the_wrong_side_of_the_number_of_positives() -> None:
    high = np.array([True, True, False, False, False])
    assert by_score(np.array([5.0, 1.0, 4.0, 2.0, 0.0]), high).errs.tolist() == [False, True, True, False, False]
    tied = by_score(np.array([5.0, 4.0, 4.0, 2.0, 0.0]), high)
    assert tied.errs.tolist() == [False, False, True, False, False]


@pytest.mark.parametrize("draws", DRAWS)
def test_sketches_find_near_duplicates_and_exclude_unrelated_systems(draws: np.random.Generator) -> None:
    n = 20_000
    gold = draws.integers(0, 3, n)
    a = np.where(draws.random(n) < 0.8, gold, draws.integers(0, 3, n))
    copy = a.copy()
    changed = draws.choice(n, n // 200, replace=False)
    copy[changed] = (copy[changed] + 1) % 3
    unrelated = np.where(draws.random(n) < 0.8, gold, draws.integers(0, 3, n))
    sketches = [similarity_sketch(items(labels, gold)) for labels in (a, copy, unrelated)]
    near, far = sketch_agreement(sketches[0], sketches[1:], ordered=False)
    assert near >= agreement_threshold(ordered=False) > far


@pytest.mark.parametrize("draws", DRAWS)
def test_sketches_of_scores_find_near_duplicates_and_exclude_unrelated_systems(draws: np.random.Generator) -> None:
    n = 20_000
    errs = np.zeros(n, dtype=np.bool_)
    a = np.round(draws.normal(size=n), 2)
    copy = np.exp(a)
    changed = draws.choice(n, n // 200, replace=False)
    copy[changed] = draws.permutation(copy)[: len(changed)]
    unrelated = a + draws.normal(size=n) * 0.1
    sketches = [similarity_sketch(ScoredAnswers(scores, errs)) for scores in (a, copy, unrelated)]
    near, far = sketch_agreement(sketches[0], sketches[1:], ordered=True)
    assert near >= agreement_threshold(ordered=True) > far


@pytest.mark.parametrize("draws", DRAWS[:6])
def test_agreement_is_computed_on_the_smallest_numbers_of_both(draws: np.random.Generator) -> None:
    sizes = (0, 1, 5, SIZE - 1, SIZE)
    sketches = [np.sort(draws.choice(400, size, replace=False)).astype(np.uint64) for size in sizes]
    for own in sketches:
        expected = []
        for other in sketches:
            least = sorted({*own.tolist(), *other.tolist()})[:SIZE]
            shared = {*own.tolist()} & {*other.tolist()}
            expected.append(len(shared.intersection(least)) / len(least) if least else 0.0)
        assert sketch_agreement(own, sketches, ordered=False).tolist() == expected
    assert sketch_agreement(sketches[0], [], ordered=False).tolist() == []


def test_a_sketch_is_bounded_and_depends_on_answers_alone() -> None:
    gold = np.zeros(5000, int)
    computed = similarity_sketch(items(np.arange(5000) % 3, gold))
    assert len(computed) == SIZE and int(computed.max()) < 2**63
    assert np.array_equal(computed, similarity_sketch(items(np.arange(5000) % 3, gold + 1))), (
        "the sketch depends on gold"
    )
    assert (
        len(similarity_sketch(CategoricalAnswers(*(np.zeros(0, dtype=np.uint64),) * 2, np.zeros(0, dtype=np.bool_))))
        == 0
    )


def run_job(job: str, task: str, gold: bytes, *files: bytes) -> dict[str, Any]:
    arguments = {"task": task, "options": {}, "gold_name": "gold.jsonl"}
    if job == "signature":
        opened = {"gold": io.BytesIO(gold), "predictions": io.BytesIO(files[0])}
        return JOBS[job](opened, arguments | {"predictions_name": "p.jsonl"})[0]
    opened = {"gold": io.BytesIO(gold), **{str(i): io.BytesIO(body) for i, body in enumerate(files)}}
    return JOBS[job](opened, arguments | {"names": ["p.jsonl"] * len(files)})[0]


@pytest.mark.parametrize("task", TASKS)
def test_equal_files_are_fully_similar_and_an_invalid_file_has_no_row(task: str) -> None:
    gold, predictions = TASKS[task].samples[0]
    report = run_job("near_duplicates", task, gold, predictions, predictions, b"broken\n")
    same, none = report["rows"]
    assert same["equal"] == 1.0 and same["shared_errors"] in (1.0, None) and none is None
    sketch_report = run_job("signature", task, gold, predictions)
    assert (
        sketch_report["ordered"] is (task in ("fact-checking", "metric-correlation"))
        and len(sketch_report["signature"]) >= 1
    )


def lines(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def test_link_prediction_compares_first_mentions() -> None:
    gold = lines(*({"id": n, "question": ["a", "r", "?"], "answers": ["b"], "filtered": []} for n in range(4)))
    a = lines(*({"id": n, "ranking": top} for n, top in enumerate((["b", "x"], ["c"], ["d"], []))))
    b = lines(*({"id": n, "ranking": top} for n, top in enumerate((["b"], ["c", "b"], ["e"]))))
    (row,) = run_job("near_duplicates", "link-prediction", gold, a, b)["rows"]
    assert (row["equal"], row["n_units"], row["n_errors"], row["shared_errors"]) == (2 / 3, 3, 3, 2 / 3)


def test_facts_of_documents_compare_by_span_and_page() -> None:
    gold, predictions = TASKS["knowledge-base-population"].samples[0]
    moved = predictions.replace(b'"objectEnd": 4', b'"objectEnd": 5')
    assert moved != predictions
    (row,) = run_job("near_duplicates", "knowledge-base-population", gold, predictions, moved)["rows"]
    assert (row["equal"], row["n_units"]) == (1 / 3, 3)
