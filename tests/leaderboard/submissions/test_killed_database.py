"""Submissions with idempotency keys while the database is killed again and again: each is stored and charged once."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from evaluator.client.api import Api
from evaluator.client.http import RefusedError, UnavailableError
from tests.support import postgresql
from tests.support.postgresql import needs_postgresql
from tests.support.rows.tiny_world import prediction_lines
from tests.support.web_server import served
from tests.support.workers import running_stack

N, KILLS, THREADS = 200, 6, 4
ATTEMPTS = 60
"""Requests of one submission; a second lies between two."""
WORLD = """
import django; django.setup()
from leaderboard.accounts.actions import tokens
from tests.support.rows import tiny_world
world = tiny_world.build(quota_per_day=1000, quota_total=1000)
print(tokens.issue(by=world.researcher)[1])
"""


def in_site(environment: dict[str, str], *command: str) -> str:
    done = subprocess.run(
        [sys.executable, *command], cwd=settings.ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return done.stdout.strip().splitlines()[-1]


@pytest.mark.slow
@needs_postgresql
@pytest.mark.django_db  # the environment of the site's processes is made from the test's
def test_each_submission_is_stored_and_charged_once(sandbox: str, tmp_path: Path) -> None:
    answers: Counter[str] = Counter()
    done: dict[int, str] = {}
    finished = threading.Event()

    def submit(address: str, token: str, number: int) -> None:
        api, pause = Api(address, token), threading.Event()
        described: dict[str, Any] = {"name": "predictions.jsonl", "metadata": {"system": f"Killed {number % 20}"}}
        for _ in range(ATTEMPTS):
            try:
                row = api.send_predictions("tiny", "test", prediction_lines(), key=f"killed-{number}", **described)
            except UnavailableError as error:
                answers[str(error.status or "no response")] += 1
                pause.wait(1)
            except RefusedError as error:
                answers[error.code] += 1
                pause.wait(1)
            else:
                answers["201"] += 1
                done[number] = row["id"]
                return

    def kill(database: postgresql.Server) -> None:
        for part in range(1, KILLS + 1):
            while len(done) < part * N // (KILLS + 1) and not finished.wait(0.05):
                pass
            database.kill()
            database.start_again()

    with postgresql.server(durable=True) as database:
        environment = running_stack.environment(
            HOLDOUT_DATABASE_URL=database.url(), HOLDOUT_DATA=str(tmp_path), HOLDOUT_SANDBOX_SOCKET=sandbox
        )
        in_site(environment, "manage.py", "migrate", "--verbosity", "1")
        token = in_site(environment, "-c", WORLD)
        with (
            served(
                HOLDOUT_DATABASE_URL=database.url(), HOLDOUT_DATA=str(tmp_path), HOLDOUT_SANDBOX_SOCKET=sandbox
            ) as site,
            ThreadPoolExecutor(THREADS + 1) as pool,
        ):
            killer = pool.submit(kill, database)
            list(pool.map(lambda number: submit(site.address, token, number), range(N)))
            finished.set()
            killer.result()
        counted = {
            name: database.execute(f"SELECT count(*) FROM leaderboard_{table}", name="holdout")
            for name, table in {
                "rows": "submission",
                "predictions": "prediction",
                "charges": "quotacharge WHERE refunded_at IS NULL",
            }.items()
        }
        ids = set(json.loads(database.execute("SELECT json_agg(id)::text FROM leaderboard_submission", name="holdout")))
    print(f"answers: {dict(answers)}, database killed {KILLS} times, stored: {counted}")
    assert counted == {"rows": N, "predictions": N, "charges": N}, answers
    assert len(done) == N and set(done.values()) == ids
