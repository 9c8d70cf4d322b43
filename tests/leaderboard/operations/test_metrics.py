"""Metrics for an operator's monitor: correct with the token, and a 404 like an unknown address without it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from datetime import timedelta
from typing import Any
from unittest.mock import MagicMock

import pytest
from django.conf import settings
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.parser import text_string_to_metric_families

from leaderboard.celery import app
from leaderboard.core import disk, process_metrics
from leaderboard.models import Notice, Run, SimilarityCheck, State, Submission, WorkerReport
from leaderboard.operations import metrics as metrics_view
from leaderboard.work_queue import enqueue
from tests.support.api_calls import person
from tests.support.rows.board_rows import stand, symmetric_scores
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
DECLARED = [value for value in vars(process_metrics).values() if isinstance(value, MetricWrapperBase)]
"""The counters and histograms of processes."""
TOKEN = "a-token-that-is-long-enough"
WITH = {"Authorization": f"Bearer {TOKEN}"}
LABELS = {"kind", "state", "outcome", "queue", "operation", "view", "method", "status", "result", "lock", "le"}
Numbers = dict[tuple[str, frozenset[tuple[str, str]]], float]


@pytest.fixture
def world(settings: Any) -> World:
    settings.METRICS_TOKEN = TOKEN
    return build()


def read_metrics() -> Numbers:
    """Returns the metrics as Prometheus' own parser reads them."""
    answer = Client().get("/metrics", headers=WITH)
    assert answer.status_code == 200 and answer["Content-Type"].startswith("text/plain; version=")
    families = text_string_to_metric_families(answer.content.decode())
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in families
        for sample in family.samples
    }


def number(metrics: Numbers, name: str, **labels: str) -> float:
    return metrics[f"holdout_{name}", frozenset(labels.items())]


@pytest.mark.parametrize(
    "header", ["", TOKEN, "Bearer", "Bearer ", f"Basic {TOKEN}", f"Bearer {TOKEN}x", "Bearer \u00e9"]
)
def test_without_the_token_the_response_is_404(world: World, header: str) -> None:
    for client in (Client(), Client()):
        answer = client.get("/metrics", headers={"Authorization": header} if header else {})
        absent = client.get("/matrics", headers={"Authorization": header} if header else {})
        assert answer.status_code == absent.status_code == 404
        assert answer.content == absent.content.replace(b"matrics", b"metrics")
        assert b"holdout_" not in answer.content
        client.force_login(world.curator)


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete", "options", "head", "trace"])
def test_without_the_token_no_method_reveals_the_endpoint(world: World, method: str) -> None:
    client = Client(enforce_csrf_checks=True)
    forbidden, absent = (getattr(client, method)(path) for path in ("/metrics", "/matrics"))
    assert forbidden.status_code == absent.status_code == 404
    assert "Allow" not in forbidden and forbidden.content == absent.content.replace(b"matrics", b"metrics")


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", f"Bearer {TOKEN}"])
def test_without_a_setting_nobody_has_the_token(world: World, settings: Any, header: str) -> None:
    settings.METRICS_TOKEN = ""
    assert Client().get("/metrics", headers={"Authorization": header}).status_code == 404


def test_a_short_token_prevents_the_start() -> None:
    environment = {**os.environ, "HOLDOUT_METRICS_TOKEN": "short", "DJANGO_SETTINGS_MODULE": "tests.settings"}
    start = [sys.executable, "-c", "import tests.settings"]
    process = subprocess.run(start, env=environment, capture_output=True, text=True, check=False)
    assert process.returncode != 0
    assert "HOLDOUT_METRICS_TOKEN has 5 characters, expected at least 20" in process.stderr


def test_the_endpoint_is_read_only(world: World) -> None:
    for method in ("post", "put", "delete", "options"):
        answer = getattr(Client(enforce_csrf_checks=True), method)("/metrics", headers=WITH)
        assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD")
    assert Client().head("/metrics", headers=WITH).status_code == 200
    assert Client().get("/metrics", headers=WITH)["Cache-Control"] == "no-store"


def test_work_is_counted_by_state_and_outcome(world: World) -> None:
    at = timezone.now()
    assert number(read_metrics(), "oldest_queued_seconds", kind="run") == 0
    for age in (5, 3600, 70):
        world.insert_run(at=at - timedelta(seconds=age))
    for state, n in ((State.REJECTED, 2), (State.FAILED, 1)):
        for _ in range(n):
            world.insert_run(state=state, at=at, finished_at=at)
    world.insert_run(state=State.RUNNING, at=at - timedelta(days=3), attempt=1, lease_until=at)
    stand(world, "First")
    metrics = read_metrics()
    assert (
        number(metrics, "queue_length", kind="run", state="queued") == Run.objects.filter(state="queued").count() == 3
    )
    assert number(metrics, "queue_length", kind="run", state="running") == 1
    by_outcome = {
        outcome: number(metrics, "finished_last_hour", kind="run", outcome=outcome)
        for outcome in ("done", "rejected", "failed")
    }
    assert by_outcome == {"done": 1, "rejected": 2, "failed": 1}
    assert number(metrics, "finished_last_hour", kind="run", outcome="cancelled") == 0
    assert 3600 <= number(metrics, "oldest_queued_seconds", kind="run") < 3600 + 600


def test_finished_work_counts_for_an_hour(world: World) -> None:
    at = timezone.now()
    for minutes in (1, 59, 61, 6000):
        ended = at - timedelta(minutes=minutes)
        world.insert_run(state=State.FAILED, at=ended, finished_at=ended)
    assert number(read_metrics(), "finished_last_hour", kind="run", outcome="failed") == 2


def test_values_that_may_decrease_are_not_counters(world: World) -> None:
    """Deletions on the management pages lower a count, and Prometheus takes a counter that decreases for a reset."""
    answer = Client().get("/metrics", headers=WITH).content.decode()
    families = {family.name: family.type for family in text_string_to_metric_families(answer)}
    processes = {family.name for family in process_metrics.registry().collect()}
    assert {kind for name, kind in families.items() if name in processes} <= {"counter", "histogram"}
    assert families.pop("holdout_store_errors") == "counter"
    assert {kind for name, kind in families.items() if name not in processes} == {"gauge"}


def test_workers_and_the_disk_are_reported(world: World, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    at = timezone.now()
    for host, age, ready in (("one", 10, True), ("two", 200, False), ("three", 10_000, True)):
        WorkerReport.objects.create(queue="systems", host=host, ready=ready, seen_at=at - timedelta(seconds=age))
    settings.DISK_ALARM_BYTES = 1000
    for free in (999, 1001):
        monkeypatch.setattr(disk, "free_bytes", lambda free=free: free)
        metrics = read_metrics()
        assert (number(metrics, "disk_free_bytes"), number(metrics, "disk_low")) == (free, free < 1000)
    assert number(metrics, "workers_ready", queue="systems") == 1
    assert 10 <= number(metrics, "worker_seen_seconds", queue="systems") < 200


def test_the_hosts_of_containers_are_reported(world: World) -> None:
    at = timezone.now()
    for host, fields in {
        "one": {"disk_low": True, "disk_free_bytes": 100, "images": {"a": 7, "b": 5}},
        "two": {"draining": True, "disk_free_bytes": 200, "images": {"a": 7}},
        "gone": {"draining": True, "disk_low": True, "disk_free_bytes": 1, "seen_at": at - timedelta(hours=1)},
    }.items():
        WorkerReport.objects.create(**{"queue": "systems", "host": host, "ready": True, "seen_at": at, **fields})
    metrics = read_metrics()
    expected = {"workers_draining": 1, "engine_disk_low": 1, "engine_disk_free_bytes": 100, "image_cache_bytes": 19}
    assert {name: number(metrics, name, queue="systems") for name in expected} == expected


def test_mails_and_calls_are_counted(world: World) -> None:
    at = timezone.now()
    about = {"subject": Submission(system=world.system).pk, "body": {}, "due_at": at, "created_at": at}
    Notice.objects.create(user=world.researcher, state="queued", **about)
    metrics = read_metrics()
    assert [number(metrics, "notifications", state=state) for state in ("queued", "failed")] == [1, 0]


def test_each_kind_has_its_label(world: World) -> None:
    at = timezone.now()
    times = {"queued_at": at, "enqueued_at": at}
    SimilarityCheck.objects.create(prediction=world.insert_run().prediction, phase=world.phase, **times)
    metrics = read_metrics()
    for kind in ("similarity_check", "head_to_head"):
        assert number(metrics, "queue_length", kind=kind, state="queued") == (kind == "similarity_check")
        assert number(metrics, "oldest_queued_seconds", kind=kind) >= 0
        assert number(metrics, "finished_last_hour", kind=kind, outcome="done") == 0


def test_no_name_and_no_score_is_exposed(world: World) -> None:
    scores = symmetric_scores(0.7236514)  # digits that no duration has by chance
    stand(world, "Canary-system", scores, team="Canary-team", description="Canary-text")
    person("Canary-person")
    WorkerReport.objects.create(
        queue="systems", host="Canary-host", ready=False, message="Canary", seen_at=timezone.now()
    )
    body = Client().get("/metrics", headers=WITH).content.decode()
    hidden = ("canary", world.benchmark.slug, world.phase.slug + '"', "0.72365", "accuracy", f'="{world.split.pk}"')
    assert [word for word in hidden if word in body.lower()] == []
    labels = {name for _, label_pairs in read_metrics() for name, _ in label_pairs}
    assert labels <= LABELS


def test_reading_takes_a_constant_number_of_queries(world: World) -> None:
    with CaptureQueriesContext(connection) as few:
        read_metrics()
    for index in range(5):
        stand(world, f"System {index}")
        world.insert_run()
    with CaptureQueriesContext(connection) as many:
        read_metrics()
    assert len(few) == len(many) <= 17


def test_late_and_repeated_work_is_counted(world: World) -> None:
    at = timezone.now()
    for seconds, attempt in ((-1, 1), (-100, 2), (100, 3)):
        world.insert_run(state=State.RUNNING, at=at, attempt=attempt, lease_until=at + timedelta(seconds=seconds))
    for attempt in (0, 1):
        world.insert_run(at=at, attempt=attempt)
    metrics = read_metrics()
    assert (number(metrics, "late_leases", kind="run"), number(metrics, "active_repeated", kind="run")) == (2, 3)


def test_without_the_database_the_other_metrics_remain(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert number(read_metrics(), "database_up") == 1
    away = MagicMock(side_effect=OperationalError("the server closed the connection unexpectedly"))
    monkeypatch.setattr(metrics_view, "_workers", away)
    metrics = read_metrics()
    assert number(metrics, "database_up") == 0
    assert ("holdout_queue_length", frozenset({("kind", "run"), ("state", "queued")})) not in metrics
    assert number(metrics, "broker_up") == number(metrics, "store_up") == 1
    assert number(metrics, "http_requests_total", view="metrics", method="GET", status="2xx") >= 1


def test_the_broker_is_counted_or_reported(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    before = number(read_metrics(), "broker_messages", queue="scoring")
    app.send_task("leaderboard.jobs.score", args=["x"], queue="scoring")
    try:
        metrics = read_metrics()
        assert (number(metrics, "broker_messages", queue="scoring"), number(metrics, "broker_up")) == (before + 1, 1)
    finally:
        app.control.purge()
    monkeypatch.setattr(enqueue, "n_waiting", MagicMock(side_effect=enqueue.BrokerError("scoring: TimeoutError")))
    assert number(read_metrics(), "broker_up") == 0


def test_the_page_for_operators_lists_each_metric(world: World) -> None:
    text = (settings.ROOT / "docs" / "operators.md").read_text(encoding="utf-8").partition("\n## Metrics\n")[2]
    table = "".join(line.split(" | ")[0] for line in text.partition("\n## ")[0].splitlines() if line.startswith("| `"))
    answer = Client().get("/metrics", headers=WITH).content.decode()
    shown = {line.split()[2] for line in answer.splitlines() if line.startswith("# HELP")}
    declared = {f"{metric._name}_total" if metric._type == "counter" else metric._name for metric in DECLARED}
    known = shown | declared | {"holdout_sweep_age_seconds"}
    assert set(re.findall(r"`(holdout_\w+)`", table)) == known
