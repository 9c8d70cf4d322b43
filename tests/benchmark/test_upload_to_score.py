"""Waiting time of a researcher from upload to published score, through gunicorn, broker, worker and sandbox.

Run with `bin/test -m benchmark -s`. It prints times, and asserts only that the scores exist.
"""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path

import pytest
from django.core.management import call_command

from leaderboard.accounts.actions import teams
from leaderboard.models import Phase, Run, Score, State, User
from leaderboard.submissions.actions import submit
from tests.support.rows.tiny_world import uploaded

pytest_plugins = ["tests.support.workers.running_stack"]
pytestmark = [pytest.mark.benchmark, pytest.mark.realdata, pytest.mark.django_db(transaction=True)]
TIMES = 10


def test_knowledgenet_fold_4_from_upload_to_published_score(stack, realdata: Path, capsys) -> None:
    """2,708 gold facts, 2,530 predicted ones; intervals from 1,000 resamples for every measure and property."""
    User.objects.create_user("curator", "c@holdout.example", "x", is_curator=True)
    researcher = User.objects.create_user("ada", "a@holdout.example", "x")
    call_command("import_benchmark", "knowledgenet", str(realdata / "knowledgenet"), by="curator", public=True)
    phase = Phase.objects.get(split__gold_public=False)
    Phase.objects.update(quota_per_day=1000, quota_total=1000)
    system = teams.system(team=teams.of(researcher), name="noisy", by=researcher)
    entry = submit.Entry(system=system, by=researcher)
    content = (realdata / "knowledgenet" / "predictions" / "noisy_seed1.jsonl").read_bytes()
    waited, validated, sandboxed, starts = [], [], [], []
    for _ in range(TIMES + 1):
        started = time.perf_counter()
        submission = submit.submit(phase=phase, entry=entry, file=uploaded(content)).submission
        validated.append(time.perf_counter() - started)
        run = stack.wait_for(submission)
        waited.append(time.perf_counter() - started)
        assert run.state == State.DONE, json.dumps(run.problems)
        sandboxed.append(run.provenance["seconds"])
        starts.append(run.provenance["sandbox_start_seconds"])
    n = Score.objects.filter(run=run).count()
    intervals = Score.objects.filter(run=run, low__isnull=False).count()
    assert n == 13 + 15 * 9 and intervals == n - 3 * 3, "overall and per property; three properties have no link facts"
    assert Run.objects.filter(state=State.DONE).count() == TIMES + 1
    with capsys.disabled():
        print(f"\nKnowledgeNet fold 4, {n} scores, {intervals} intervals; seconds, median of {TIMES}:")
        for name, values in (
            ("upload to published score", waited),
            ("of which validation and acceptance", validated),
            ("of which the scoring sandbox", sandboxed),
            ("of which the sandbox's start", starts),
        ):
            measured = values[1:]
            print(
                f"  {name:<36} {statistics.median(measured):.3f}   (min {min(measured):.3f}, max {max(measured):.3f})"
            )
