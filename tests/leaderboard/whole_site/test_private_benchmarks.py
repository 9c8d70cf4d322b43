"""A benchmark for invited teams: for everybody else each of its addresses is missing, and no page lists it."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from leaderboard.models import Benchmark, System
from leaderboard.submissions.actions import registrations
from tests.leaderboard.whole_site import access_table
from tests.support.api_calls import client_of
from tests.support.crawler import patterns
from tests.support.rows.board_rows import score, stand
from tests.support.rows.module_rows import shared
from tests.support.rows.roles import Cast, cast
from tests.support.rows.teasers import teaser_of

pytestmark = pytest.mark.django_db
PARAMETER = re.compile(r"<(?:\w+:)?(\w+)>")
ROUTES = {name: route for route, name in patterns() if "<slug:slug>" in route and not route.startswith("manage/")}
"""Management pages are for managers, of whichever benchmark: see the access matrix."""
PARAMETERS = {"phase": "test", "split": "test", "task": "t", "name": "pages", "dimension": "origin", "number": 1}
PARAMETERS |= {"pair": "origin/label", "gold": 1, "task_version": 1, "generator": "folds", "pk": 1, "plot": "intervals"}
PARAMETERS |= {"sha256": "0" * 64, "filename": "tiny-test-inputs.jsonl"}
LISTS = ["/", "/?search=Tiny", "/?search=Secret", "/feed.atom", "/tasks/", "/api/v1/benchmarks/", "/me/submissions/"]


def build() -> Cast:
    everybody = cast()
    world = everybody.world
    Benchmark.objects.filter(slug="tiny").update(title="Secret shared task")
    teaser_of(world.benchmark, sha256="0" * 64)
    stand(world, "Early", [score("accuracy", 0.5), score("accuracy", 0.25, origin="original")])
    registrations.set_access(benchmark=world.benchmark, access="invited", asks_agreement=False, by=world.curator)
    assert Benchmark.objects.get(slug="tiny").state == "private"
    return everybody


everybody, _django_db_helper = shared(build)


def address(name: str, everybody: Cast) -> str:
    key = everybody.submission.pk if "<uuid:pk>" in ROUTES[name] else 1
    parameters = {**PARAMETERS, "slug": "tiny", "pk": key}
    return reverse(name, kwargs={part: parameters[part] for part in PARAMETER.findall(ROUTES[name])})


def stranger(everybody: Cast, role: str) -> Client:
    if role == "token":
        return client_of(everybody.people["B"])
    return everybody.client(role)


@pytest.mark.parametrize("role", ["anonymous", "B", "token"])
def test_every_address_is_missing(everybody: Cast, role: str) -> None:
    client = stranger(everybody, role)
    wrong = []
    for name, route in ROUTES.items():
        if role == "token" and not route.startswith("api/"):
            continue
        answer = client.get(address(name, everybody))
        is_login = answer.status_code == 302 and answer["Location"].startswith("/accounts/login/")
        if answer.status_code not in (401, 404, 405) and not (is_login and role == "anonymous"):
            wrong.append((name, answer.status_code))
    assert not wrong


@pytest.mark.parametrize("role", ["anonymous", "B"])
def test_no_page_names_it(everybody: Cast, role: str) -> None:
    client = stranger(everybody, role)
    system = System.objects.get(name="Early")
    for page in [*LISTS, f"/systems/{system.pk}/", f"/submissions/{everybody.submission.pk}/"]:
        content = client.get(page).content
        assert b"shared task" not in content and b"Early" not in content and b"/tiny/" not in content, page


def test_a_registered_team_sees_what_everybody_sees_of_a_public_benchmark(everybody: Cast) -> None:
    member = everybody.client("A")
    expected = {
        row.name: row.get for row in access_table.PUBLIC if "slug" in ROUTES.get(row.name, "") and not row.where
    }
    own = [name for name, statuses in expected.items() if statuses == access_table.EVERYONE]
    # A feed, like an embedded view and metadata, is read without a session. The gold here has one dimension.
    for name in sorted(set(own) - {"benchmark_feed", "embed", "two_way_board", "croissant", "api_croissant"}):
        assert member.get(address(name, everybody)).status_code == 200, name
    assert b"shared task" in member.get("/").content
    assert b"tiny" in client_of(everybody.people["A"]).get("/api/v1/benchmarks/").content


def test_a_removed_team_sees_nothing_any_more(everybody: Cast) -> None:
    world: Any = everybody.world
    registrations.decide(benchmark=world.benchmark, team=world.system.team, approve=False, by=world.curator)
    assert everybody.client("A").get("/benchmarks/tiny/").status_code == 404
    assert everybody.client("A").get(f"/submissions/{everybody.submission.pk}/").status_code == 404
