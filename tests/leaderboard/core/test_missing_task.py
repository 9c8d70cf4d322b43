"""A benchmark whose task is not installed has no pages for now; the site's other pages work."""

from __future__ import annotations

import pytest
from django.core.checks import run_checks
from django.test import Client, RequestFactory

from evaluator.tasks.registry import TASKS, MissingTaskError, TaskProblem
from leaderboard.core.api import errors
from leaderboard.models import Benchmark
from tests.support.api_calls import error_of
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
MESSAGE = "The task ancient is not installed on this server."


@pytest.fixture
def world() -> World:
    world = build()
    Benchmark.objects.update(state=Benchmark.State.PUBLIC, task="ancient")
    return world


def test_its_own_pages_say_what_is_missing(world: World) -> None:
    client = Client(raise_request_exception=False)
    board = f"benchmarks/tiny/{world.phase.slug}/"
    for page in (f"/{board}", "/benchmarks/tiny/"):
        answer = client.get(page)
        assert answer.status_code == 503 and MESSAGE in answer.content.decode()
    answer = errors.handler(MissingTaskError("ancient"), {"request": RequestFactory().get("/")})
    assert answer is not None
    assert (answer.status_code, error_of(answer)) == (503, {"code": "task_missing", "message": MESSAGE})


def test_other_pages_of_the_site_work(world: World) -> None:
    client = Client()
    client.force_login(world.curator)
    for page in ("/", "/tasks/", "/manage/", "/api/v1/benchmarks/", "/api/v1/tasks/"):
        assert client.get(page).status_code == 200, page


def test_the_system_check_warns_of_a_missing_task(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not [message for message in run_checks() if message.id == "leaderboard.W001"]
    monkeypatch.setattr(type(TASKS), "problems", [TaskProblem("ancient", "ancient-task 1.0", "it does not load")])
    (warning,) = [message for message in run_checks() if message.id == "leaderboard.W001"]
    assert warning.msg == 'task "ancient" of ancient-task 1.0 is not loaded: it does not load'
