"""Time of the search for near-duplicates in a phase with 2,000 scored files of 200 teams: printed, not asserted.

Run with `pytest tests/benchmark/test_near_duplicates_speed.py -m benchmark -s`.
"""

from __future__ import annotations

import io
import json
import time
import uuid

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from evaluator.jobs import JOBS
from evaluator.similarity.predictions import similarity_sketch
from evaluator.tasks.answers import CategoricalAnswers
from leaderboard.models import Prediction, SimilarityCheck, Submission, System, Team
from leaderboard.near_duplicates.actions import similarity
from tests.support.rows.tiny_world import build
from tests.support.scoring_runs import taken_by

pytestmark = [pytest.mark.benchmark, pytest.mark.django_db]
FILES, TEAMS, UNITS = 2000, 200, 20_000
LABELS = ("SUPPORTS", "REFUTES", "NOT ENOUGH INFO")


def answers(random: np.random.Generator, gold: np.ndarray) -> np.ndarray:
    """Return answers that are right on about 87 % of the units."""
    return np.where(random.random(UNITS) < 0.8, gold, random.integers(0, 3, UNITS))


def test_a_phase_of_two_thousand_files() -> None:
    random = np.random.default_rng(0)
    gold = random.integers(0, 3, UNITS)
    world, at = build(), timezone.now()
    teams = Team.objects.bulk_create(Team(name=f"Team {number}") for number in range(TEAMS))
    systems = System.objects.bulk_create(System(team=team, name="System") for team in teams)
    keys = [(systems[number % TEAMS], uuid.uuid4(), uuid.uuid4()) for number in range(FILES)]
    by = {"phase": world.phase, "submitted_by": world.researcher, "received_at": at}
    Submission.objects.bulk_create(Submission(pk=key, system=system, **by) for system, key, _ in keys)
    file = {"name": "p.jsonl", "file": "p", "sha256": "0", "inputs_sha256": "0", "state": "done", "finished_at": at}
    Prediction.objects.bulk_create(Prediction(pk=pk, submission_id=key, queued_at=at, **file) for _, key, pk in keys)
    likenesses = []
    units, errs = np.arange(UNITS, dtype=np.uint64), np.zeros(UNITS, dtype=np.bool_)
    for _, _, pk in keys:
        sketch_bytes = similarity_sketch(
            CategoricalAnswers(units, (answers(random, gold) + 1).astype(np.uint64), errs)
        ).tobytes()
        row = {"phase": world.phase, "signature": sketch_bytes, "queued_at": at, "enqueued_at": at}
        likenesses.append(SimilarityCheck(prediction_id=pk, state="done", finished_at=at, **row))
    SimilarityCheck.objects.bulk_create(likenesses)
    likeness = SimilarityCheck.objects.select_related("prediction__submission__system").first()
    assert likeness is not None
    with CaptureQueriesContext(connection) as queries:
        begin = time.perf_counter()
        candidates = similarity.most_similar(likeness, earlier=False)
        seconds = time.perf_counter() - begin
    print(f"\n{FILES} sketches of {TEAMS} teams: {seconds:.3f} s, {len(queries)} queries, {len(candidates)} candidates")


def test_jobs_on_one_file_and_fifteen_others() -> None:
    random = np.random.default_rng(0)
    gold = random.integers(0, 3, UNITS)

    def lines(name: str, labels: np.ndarray) -> bytes:
        rows = ({"id": number, name: LABELS[label]} for number, label in enumerate(labels.tolist()))
        more = {"claim": "c"} if name == "label" else {}
        return b"".join(json.dumps(row | more).encode() + b"\n" for row in rows)

    arguments = {"task": "fact-verification", "options": {}, "gold_name": "g.jsonl", "predictions_name": "p.jsonl"}
    gold_bytes, prediction_files = (
        lines("label", gold),
        [lines("predicted_label", answers(random, gold)) for _ in range(16)],
    )
    for job, files in (
        ("signature", {"predictions": prediction_files[0]}),
        ("near_duplicates", {str(number): body for number, body in enumerate(prediction_files)}),
        ("score", {"predictions": prediction_files[0]}),
    ):
        opened = {name: io.BytesIO(body) for name, body in {**files, "gold": gold_bytes}.items()}
        begin = time.process_time()
        JOBS[job](opened, taken_by(job, arguments | {"names": ["p.jsonl"] * len(prediction_files)}))
        print(f"{job}, {UNITS} units: {time.process_time() - begin:.2f} s of a processor")
