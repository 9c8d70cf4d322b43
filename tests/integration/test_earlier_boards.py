"""Boards that were shown before a correction: on pages, by slices, and for programs."""

from __future__ import annotations

import csv
import html
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from leaderboard.actions import runs, teams
from leaderboard.models import Run, State, Submission
from tests.corrections import HALF, correct, score_all, two_systems
from tests.world import LABELS, World, gold_lines

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/benchmarks/tiny/test/"
FROZEN = f"{PAGE}gold-1/task-1/"
API = "/api/v1/benchmarks/tiny/phases/test/leaderboard"
FIRST = "gold_version=1&task_version=1"
LONG_AGO = datetime(2026, 2, 3, 4, tzinfo=UTC)
WHY = "labels of <b>batch 3</b> were swapped"


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    """Corrected, and all is scored again."""
    world = two_systems()
    Submission.objects.update(received_at=LONG_AGO)
    correct(world, reason=WHY)
    score_all()
    return world


def page(address: str) -> str:
    """The page as read, its white space made plain."""
    response = Client().get(address)
    assert response.status_code == 200, address
    return re.sub(r"\s+", " ", response.content.decode())


def links(markup: str) -> list[str]:
    return [html.unescape(link) for link in re.findall(r'href="([^"]+)"', markup)]


def body(address: str, status: int = 200) -> dict[str, Any]:
    response = Client().get(address)
    assert response.status_code == status
    found: dict[str, Any] = response.json()
    return found


def values(board: dict[str, Any]) -> dict[str, float]:
    return {row["system"]: row["scores"][0]["value"] for row in board["rows"]}


def test_a_frozen_page_leads_to_its_own_numbers(world: World) -> None:
    (table,) = [link for link in links(page(FROZEN)) if "leaderboard.csv" in link]
    (document,) = [link for link in links(page(FROZEN)) if link.startswith(f"{API}/?")]
    told = body(document)
    assert (told["gold_version"], told["task_version"]) == (1, 1)
    assert values(told) == {"Bernoulli": 1.0, "Contrary": 0.0}
    response = Client().get(table)
    assert "gold-1-task-1" in response["Content-Disposition"]
    rows = csv.DictReader(response.content.decode().splitlines())
    assert {row["system"]: row["accuracy"] for row in rows} == {"Bernoulli": "1.0", "Contrary": "0.0"}
    assert values(body(f"{API}/")) == {"Bernoulli": 0.0, "Contrary": 1.0}
    assert body(f"{API}/?gold_version=2&task_version=1") == body(f"{API}/")


@pytest.mark.parametrize("view", ["/", ".csv", "/comparisons/"])
def test_only_boards_that_were_shown_are_told(world: World, view: str) -> None:
    correct(world, gold_lines().replace(b"\n", b"\r\n"))
    for gold, task in ((3, 1), (1, 2), (7, 1), (10**30, 1)):
        told = body(f"{API}{view}?gold_version={gold}&task_version={task}", 404)
        assert (
            told["code"] == "not_found" and f"no board of gold version {gold}, task version {task}" in told["message"]
        )
    assert list(body(f"{API}{view}?gold_version=1", 400)["fields"]) == ["task_version"]
    assert list(body(f"{API}{view}?task_version=1", 400)["fields"]) == ["gold_version"]
    assert list(body(f"{API}{view}?gold_version=x&task_version=1", 400)["fields"]) == ["gold_version"]


def test_a_rescoring_leaves_the_date_of_a_submission(world: World) -> None:
    for address in (PAGE, FROZEN, "/benchmarks/tiny/"):
        markup = page(address)
        assert markup.count(f'<time datetime="{LONG_AGO.isoformat()}">2026-02-03</time>') == 2, address
        assert "Received" in markup
    for row in body(f"{API}/")["rows"]:
        assert datetime.fromisoformat(row["received_at"]) == LONG_AGO < datetime.fromisoformat(row["released_at"])
    rows = csv.DictReader(Client().get(f"{API}.csv").content.decode().splitlines())
    assert {row["received_at"] for row in rows} == {LONG_AGO.isoformat()}
    Submission.objects.filter(system=world.system).update(received_at=LONG_AGO + timedelta(days=1))
    by_date = [row["system"] for row in body(f"{API}/?sort=received_at")["rows"]]
    assert by_date == ["Contrary", "Bernoulli"]
    assert by_date[::-1] == [row["system"] for row in body(f"{API}/?sort=-received_at")["rows"]]


def test_of_equals_the_submission_that_came_first_stands_whichever_is_scored_first(world: World) -> None:
    twins = teams.system(team=world.system.team, name="Twins", by=world.researcher)
    first = world.submit(HALF, system=twins)
    world.submit({**LABELS, "a1": "REFUTES", "a2": "SUPPORTS"}, system=twins)
    score_all()
    correct(world, gold_lines().replace(b"\n", b"\r\n"))
    for run in Run.objects.filter(state=State.QUEUED).order_by("-queued_at"):
        runs.score(run_id=run.pk)
    (row,) = [row for row in body(f"{API}/")["rows"] if row["system"] == "Twins"]
    assert (row["submission"], row["scores"][0]["value"]) == (str(first.pk), 0.5)
