"""The id of a request in its response, its log lines and those of the work that it caused, and what the work counts."""

from __future__ import annotations

import io
import json
import logging
import logging.config
import threading
from typing import Any

import pytest
from django.conf import settings
from django.db import OperationalError
from django.test import Client
from structlog.contextvars import bound_contextvars, merge_contextvars
from structlog.testing import capture_logs

from leaderboard.models import Submission, WorkerReport
from leaderboard.work_queue.lease import Heartbeat
from tests.leaderboard.operations.test_metrics import TOKEN, number, read_metrics
from tests.support.api_calls import client_of, send
from tests.support.rows.tiny_world import build, prediction_lines
from tests.support.workers.running_stack import Stack

pytest_plugins = ["tests.support.workers.running_stack"]
SENT = "0123456789abcdef-from-the-proxy"


@pytest.fixture
def json_worker(stack: Stack) -> Any:
    """A worker that writes JSON; it replaces the one that `stack` started."""
    for worker in stack.workers:
        worker.stop()
    return stack.start_worker(HOLDOUT_LOG_FORMAT="json")


def test_a_run_is_logged_with_its_request_and_submission(stack: Stack, json_worker: Any, settings: Any) -> None:
    settings.IS_BEHIND_PROXY, settings.METRICS_TOKEN = True, TOKEN
    world = build()
    before = read_metrics()
    client = client_of(world.researcher, enforce_csrf_checks=False)
    client.defaults["HTTP_X_REQUEST_ID"] = SENT
    with capture_logs(processors=[merge_contextvars]) as logged:
        answer = send(client, prediction_lines())
    assert (answer.status_code, answer["X-Request-ID"]) == (201, SENT), answer.content
    submission = Submission.objects.get()
    received = [line for line in logged if line["event"] == "submission_received"]
    assert [(line["request_id"], line["submission"]) for line in received] == [(SENT, str(submission.pk))]
    run = stack.wait_for(submission)
    ended: dict[str, Any] = {}

    def is_logged() -> bool:
        lines = json_worker.log.read_text().rpartition("\n")[0].splitlines()
        events = [json.loads(line) for line in lines if line.startswith("{")]
        ended.update(next((line for line in events if line["event"] == "job_ended" and line["kind"] == "score"), {}))
        return bool(ended)

    stack.follow(is_logged, "the log of the run")
    chain = {name: ended[name] for name in ("request_id", "submission", "id", "attempt")}
    assert chain == {"request_id": SENT, "submission": str(submission.pk), "id": str(run.pk), "attempt": 1}

    after = read_metrics()

    def gain(name: str, **labels: str) -> float:
        return number(after, name, **labels) - before.get((f"holdout_{name}", frozenset(labels.items())), 0.0)

    assert gain("attempts_total", kind="score", outcome="ended") == 1
    assert gain("job_wait_seconds_count", kind="score") == gain("attempt_seconds_count", kind="score") == 1
    assert gain("publish_seconds_count") == gain("ranking_seconds_count") == 1
    assert gain("lock_wait_seconds_count", lock="phase") == gain("lock_wait_seconds_count", lock="split") == 1
    assert gain("sandbox_jobs_total", operation="score", result="done") == 1
    assert gain("sandbox_jobs_total", operation="validate", result="done") == 1
    assert (
        gain("sandbox_wait_seconds_count", operation="score") == gain("sandbox_seconds_count", operation="score") == 1
    )
    view = answer.wsgi_request.resolver_match.view_name
    assert gain("http_requests_total", view=view, method="POST", status="2xx") == 1
    assert gain("http_request_seconds_count", view=view) == 1
    assert number(after, "workers_ready", queue="scoring") == 1
    assert WorkerReport.objects.get(queue="scoring").is_fresh


@pytest.mark.django_db
def test_djangos_own_line_has_the_id_of_its_request() -> None:
    lines = io.StringIO()
    configurator = logging.config.DictConfigurator({})
    handler = logging.StreamHandler(lines)
    handler.setFormatter(configurator.configure_formatter(dict(settings.LOGGING["formatters"]["line"])))
    logger = logging.getLogger("django.request")
    logger.addHandler(handler)
    try:
        chosen = [Client().get("/absent")["X-Request-ID"] for _ in range(2)]
    finally:
        logger.removeHandler(handler)
    assert [
        f"request_id='{identifier}'" in line
        for identifier, line in zip(chosen, lines.getvalue().splitlines(), strict=True)
    ] == [True, True]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "sent", ["", "short", "x" * 65, 'a quotation "mark and more', "newline-newline\nnewline", SENT]
)
@pytest.mark.parametrize("behind_proxy", [True, False])
def test_only_a_proxy_chooses_the_id(sent: str, behind_proxy: bool, settings: Any) -> None:
    settings.IS_BEHIND_PROXY = behind_proxy
    chosen = Client().get("/health/live", headers={"X-Request-ID": sent})["X-Request-ID"]
    assert (chosen == sent) == (sent == SENT and behind_proxy)
    assert len(chosen) in (32, len(SENT)) and chosen.replace("-", "").isalnum()


def test_a_failed_renewal_is_logged_with_its_job(transactional_db: None) -> None:
    """Leases are renewed in a thread, which has no context variables of its own."""
    beats = threading.Event()

    def beat() -> bool:
        if beats.is_set():
            return False
        beats.set()
        raise OperationalError("the server closed the connection")

    with (
        capture_logs(processors=[merge_contextvars]) as logged,
        bound_contextvars(kind="score", id="7"),
        Heartbeat(seconds=0.01, beat=beat),
    ):
        assert beats.wait(10)
    failures = [line for line in logged if line["event"] == "lease_renewal_failed"]
    assert [(line["kind"], line["id"], line["error"]) for line in failures] == [("score", "7", "OperationalError")]
