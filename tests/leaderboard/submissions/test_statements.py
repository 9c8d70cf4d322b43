"""The number of statements, most of a submission's processor time, does not grow unnoticed."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from leaderboard.models import Run, State
from leaderboard.scoring.actions import runs
from tests.support.api_calls import client_of, send
from tests.support.rows.tiny_world import build, prediction_lines

pytestmark = pytest.mark.django_db
AT_MOST = {"upload": 22, "scoring": 23}  # PostgreSQL needs a few that SQLite does not


def test_statements_of_a_submission(sandbox: str, django_capture_on_commit_callbacks: Any) -> None:
    """The second one, which finds board and standing."""
    world = build()
    ada = client_of(world.researcher)
    counts = {}
    for _ in range(2):
        with CaptureQueriesContext(connection) as upload:
            answer = send(ada, prediction_lines())
        counts["upload"] = statements(upload)  # the next request forgets them
        assert answer.status_code == 201
        # The response is made of the rows in memory.
        assert answer.json() == ada.get(answer["Location"]).json()
        run = Run.objects.get(state=State.QUEUED)
        with CaptureQueriesContext(connection) as scoring:
            runs.WORK.run(run.pk)
        counts["scoring"] = statements(scoring)
        run.refresh_from_db()
        assert run.state == State.DONE
    assert all(counts[name] <= AT_MOST[name] for name in counts), counts


def statements(captured: CaptureQueriesContext) -> int:
    return sum("SAVEPOINT" not in query["sql"] for query in captured.captured_queries)
