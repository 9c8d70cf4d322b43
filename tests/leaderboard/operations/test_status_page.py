"""The operators' page: what it shows of services, workers, queues and failures, and to whom."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any
from unittest.mock import MagicMock

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.core import disk
from leaderboard.models import AuditEntry, Phase, Run, State, WorkerReport
from leaderboard.operations import health, periodic, status
from leaderboard.work_queue import enqueue
from tests.support.api_calls import person
from tests.support.rows.tiny_world import World, build
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
PAGE = "/manage/operations/"


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    responding = {"database": True, "clock": True, "broker": True, "sandbox": True, "disk": True, "store": False}
    monkeypatch.setattr(health, "results", lambda: responding)
    return build()


@pytest.fixture
def operator(world: World) -> Client:
    user = person("olga")
    user.is_staff = user.is_superuser = True
    user.save()
    client = Client()
    client.force_login(user)
    return client


def page(operator: Client) -> str:
    answer = operator.get(PAGE)
    assert answer.status_code == 200
    text = answer.content.decode()
    assert read(text).faults == []
    assert "<script" not in text.partition("<main")[2].partition("</main>")[0]
    return " ".join(text.split())


def test_a_quiet_site(operator: Client) -> None:
    cache.delete(periodic.COMPLETED)
    text = page(operator)
    assert text.count("works</span>") == 5 and text.count("does not work</span>") == 1
    for sentence in ("No work is queued or running.", "Nothing failed, and nothing was tried twice.", "unknown"):
        assert sentence in text
    assert "No worker has reported within a day." in text


def test_workers_queues_and_failures(world: World, operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    at = timezone.now()
    for queue, host, seconds, ready in (
        ("scoring", "a1", 20, True),
        ("scoring", "a2", 600, True),
        ("systems", "b", 9, False),
    ):
        seen = at - timedelta(seconds=seconds)
        WorkerReport.objects.create(
            queue=queue, host=host, ready=ready, seen_at=seen, message="" if ready else "<No> engine"
        )
    world.insert_run(at=at - timedelta(hours=3))
    world.insert_run(state=State.RUNNING, at=at, started_at=at, attempt=2, lease_until=at - timedelta(seconds=1))
    failed = world.insert_run(
        state=State.FAILED, reason="internal", at=at, started_at=at, finished_at=at - timedelta(hours=2), attempt=3
    )
    old = at - timedelta(days=2)
    forgotten = world.insert_run(state=State.FAILED, at=old, started_at=old, finished_at=old, attempt=3)
    cache.set(periodic.COMPLETED, at.timestamp() - 970)
    monkeypatch.setattr(disk, "is_low", lambda: True)
    monkeypatch.setattr(enqueue, "n_waiting", lambda queue: 7 if queue == "scoring" else 0)
    text = page(operator)
    assert '<td class="num">1</td><td class="num">1</td><td class="num nowrap">3 h</td><td class="num">1</td>' in text
    assert text.count(">gone</span>") == text.count(">ready</span>") == text.count(">not ready</span>") == 1
    assert "&lt;No&gt; engine" in text and "10 min ago" in text
    assert f"/admin/leaderboard/run/{failed.pk}/change/" in text and "an internal error" in text
    assert str(forgotten.pk) not in text
    assert "16 min ago" in text and ">late</span>" in text and ">low</span>" in text
    assert "Messages in the broker: scoring 7." in text
    assert operator.get(f"/admin/leaderboard/run/{failed.pk}/change/").status_code == 200


def test_without_a_broker_the_page_says_so(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(enqueue, "n_waiting", MagicMock(side_effect=enqueue.BrokerError("scoring")))
    assert "unknown, because the broker does not respond" in page(operator)


def test_many_failures_are_counted_and_the_latest_listed(
    world: World, operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = timezone.now()
    with CaptureQueriesContext(connection) as few:
        page(operator)
    monkeypatch.setattr(status, "MAX_ROWS", 2)
    for minutes in range(4):
        ended = at - timedelta(minutes=minutes)
        world.insert_run(state=State.FAILED, at=at, started_at=ended, finished_at=ended, attempt=3)
    with CaptureQueriesContext(connection) as many:
        text = page(operator)
    assert "The latest 2 of 4." in text and text.count("/admin/leaderboard/run/") == 2
    assert len(few) == len(many)


def test_failed_work_is_run_again_by_a_button(world: World, operator: Client) -> None:
    assert "Run failed work again" not in page(operator)
    world.insert_run(state=State.FAILED, reason="internal", finished_at=timezone.now())
    assert "1 job of the last 30 days failed because of this server" in page(operator)
    assert "Run failed work again" in page(operator)
    answer = operator.post(f"{PAGE}run-again/", follow=True)
    assert "1 failed job queued again." in answer.content.decode()
    assert AuditEntry.objects.get(action="work.run_again").actor.username == "olga"
    assert "Run failed work again" not in page(operator)
    client = Client()
    client.force_login(world.curator)
    assert client.post(f"{PAGE}run-again/").status_code == 404


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7200, "2 h"), (172_800, "2 d"), (-3, "0 s")]
)
def test_ages_in_words(seconds: float, words: str) -> None:
    assert status.age(seconds) == words


def test_the_manage_page_links_to_it(operator: Client, settings: Any) -> None:
    assert PAGE in operator.get("/manage/").content.decode()


def test_the_public_status_has_neither_names_of_parts_nor_details(world: World) -> None:
    """The store does not respond: uploads, downloads and scoring are degraded, pages are not."""
    WorkerReport.objects.create(queue="scoring", host="secret-host", ready=True, seen_at=timezone.now())
    cache.set(periodic.COMPLETED, timezone.now().timestamp())
    answer = Client().get("/status/")
    text = answer.content.decode()
    assert answer["Cache-Control"] == "no-store" and read(text).faults == []
    main = text.partition("<main")[2].partition("</main>")[0]
    assert [row.rstrip("<") for row in re.findall(r"badge-state [^>]*>(\w+)", main)] == ["up", *["degraded"] * 3]
    for inner in ("database", "broker", "sandbox", "store", "secret-host", "sweep"):
        assert inner not in main.lower()


@pytest.mark.parametrize("missing", ["worker", "sweep", "engine", ""])
def test_the_public_status_of_scoring(world: World, monkeypatch: pytest.MonkeyPatch, missing: str) -> None:
    monkeypatch.setattr(health, "results", lambda: dict.fromkeys(health.CHECKS, True))
    long_ago = timezone.now() - timedelta(hours=1)
    Phase.objects.update(takes_images=True)
    for queue in ("scoring", "systems"):
        is_gone = missing == {"scoring": "worker", "systems": "engine"}[queue]
        seen = long_ago if is_gone else timezone.now()
        WorkerReport.objects.create(queue=queue, host="a", ready=True, seen_at=seen, checked_at=long_ago)
    cache.set(periodic.COMPLETED, (long_ago if missing == "sweep" else timezone.now()).timestamp())
    found = status.public_services()
    assert found["Scoring"] == (missing not in ("worker", "sweep"))
    assert found["Container images"] == (missing not in ("engine", "sweep"))
    assert found["Uploads"] and found["Downloads"] and found["Pages and leaderboards"]


def test_images_are_not_accepted_without_an_engine(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """No worker with an engine has ever reported; it is missed once a phase takes images."""
    monkeypatch.setattr(health, "results", lambda: dict.fromkeys(health.CHECKS, True))
    cache.set(periodic.COMPLETED, timezone.now().timestamp())
    assert "Container images" not in status.public_services()
    Phase.objects.update(takes_images=True)
    assert status.public_services()["Container images"] is False
    Phase.objects.update(closes_at=timezone.now())
    assert "Container images" not in status.public_services()


def test_scoring_is_late_if_files_wait_much_longer_than_usual(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The workers have reported, and are frozen."""
    at = timezone.now()
    monkeypatch.setattr(health, "results", lambda: dict.fromkeys(health.CHECKS, True))
    cache.set(periodic.COMPLETED, at.timestamp())
    WorkerReport.objects.create(queue="scoring", host="a", ready=True, seen_at=at)
    done = {"state": State.DONE, "outcomes": "o", "outcomes_sha256": "0" * 64}
    usual = world.insert_run(at=at - timedelta(minutes=6), finished_at=at - timedelta(minutes=5), **done)
    run = world.insert_run(at=at - timedelta(seconds=100))
    assert status.public_services()["Scoring"]
    Run.objects.filter(pk=run.pk).update(queued_at=at - timedelta(minutes=4))
    assert not status.public_services()["Scoring"]
    Run.objects.filter(pk=usual.pk).update(queued_at=at - timedelta(minutes=9))
    assert status.public_services()["Scoring"]
    frozen = {"state": State.RUNNING, "lease_until": at - timedelta(seconds=1), "attempt": 1}
    Run.objects.filter(pk=run.pk).update(queued_at=at - timedelta(hours=1), **frozen)
    assert not status.public_services()["Scoring"]


def test_the_public_status_without_a_database(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page itself needs no query, so that it can say so."""
    monkeypatch.setattr(health, "results", lambda: dict.fromkeys(health.CHECKS, True) | {"database": False})
    with CaptureQueriesContext(connection) as queries:
        text = Client().get("/status/").content.decode()
    assert len(queries) == 0 and text.count("degraded</span>") == 4
