"""Boards that were shown before a correction: on pages, by slices, and in the API."""

from __future__ import annotations

import csv
import html
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from leaderboard.accounts.actions import teams
from leaderboard.models import Leaderboard, Run, State, Submission
from leaderboard.scoring.actions import runs
from tests.support.rows.corrected_gold import HALF, correct, score_all, two_systems
from tests.support.rows.tiny_world import LABELS, World, gold_lines

pytestmark = pytest.mark.django_db(transaction=True)
PAGE = "/benchmarks/tiny/test/"
FROZEN = f"{PAGE}gold-1/task-1/"
API = "/api/v1/benchmarks/tiny/phases/test/leaderboard"
FIRST = "gold_version=1&task_version=1"
LONG_AGO = datetime(2026, 2, 3, 4, tzinfo=UTC)
WHY = "labels of <b>batch 3</b> were swapped"


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    """A corrected gold with all runs scored again."""
    world = two_systems()
    Submission.objects.update(received_at=LONG_AGO)
    correct(world, reason=WHY)
    score_all()
    return world


def page(address: str) -> str:
    """The page with normalised white space."""
    response = Client().get(address)
    assert response.status_code == 200, address
    return re.sub(r"\s+", " ", response.content.decode())


def links(markup: str) -> list[str]:
    return [html.unescape(link) for link in re.findall(r'href="([^"]+)"', markup)]


def tabs_of(markup: str) -> list[str]:
    """Links of the tabs of a board, in order."""
    (tabs,) = re.findall(r'<nav class="tabs tabs-line".*?</nav>', markup, flags=re.DOTALL)
    return links(tabs)


def body(address: str, status: int = 200) -> dict[str, Any]:
    response = Client().get(address)
    assert response.status_code == status
    content: dict[str, Any] = response.json()
    return content


def values(board: dict[str, Any]) -> dict[str, float]:
    return {row["system"]: row["scores"][0]["value"] for row in board["rows"]}


def test_a_frozen_page_links_to_its_own_numbers(world: World) -> None:
    (table,) = {link for link in links(page(FROZEN)) if "leaderboard.csv" in link}
    (document,) = [link for link in links(page(FROZEN)) if link.startswith(f"{API}/?")]
    content = body(document)
    assert (content["gold_version"], content["task_version"]) == (1, 1)
    assert values(content) == {"Bernoulli": 1.0, "Contrary": 0.0}
    response = Client().get(table)
    assert "gold-1-task-1" in response["Content-Disposition"]
    rows = csv.DictReader(response.content.decode().splitlines())
    assert {row["system"]: row["accuracy"] for row in rows} == {"Bernoulli": "1.0", "Contrary": "0.0"}
    assert values(body(f"{API}/")) == {"Bernoulli": 0.0, "Contrary": 1.0}
    assert body(f"{API}/?gold_version=2&task_version=1") == body(f"{API}/")


@pytest.mark.parametrize("view", ["/", ".csv", "/comparisons/"])
def test_only_boards_that_were_shown_are_available(world: World, view: str) -> None:
    correct(world, gold_lines().replace(b"\n", b"\r\n"))
    for gold, task in ((3, 1), (1, 2), (7, 1), (10**30, 1)):
        content = body(f"{API}{view}?gold_version={gold}&task_version={task}", 404)
        assert (
            content["code"] == "not_found"
            and f"no public board of gold version {gold}, task version {task}" in content["message"]
        )
    assert list(body(f"{API}{view}?gold_version=1", 400)["fields"]) == ["task_version"]
    assert list(body(f"{API}{view}?task_version=1", 400)["fields"]) == ["gold_version"]
    assert list(body(f"{API}{view}?gold_version=x&task_version=1", 400)["fields"]) == ["gold_version"]


def test_a_rescoring_keeps_the_date_of_a_submission(world: World) -> None:
    for address in (PAGE, FROZEN, "/benchmarks/tiny/"):
        markup = page(address)
        assert markup.count(f'<time datetime="{LONG_AGO.isoformat()}" title="2026-02-03 ') == 2, address
        assert "Received" in markup
    for row in body(f"{API}/")["rows"]:
        assert datetime.fromisoformat(row["received_at"]) == LONG_AGO < datetime.fromisoformat(row["released_at"])
    rows = csv.DictReader(Client().get(f"{API}.csv").content.decode().splitlines())
    assert {row["received_at"] for row in rows} == {LONG_AGO.isoformat()}
    Submission.objects.filter(system=world.system).update(received_at=LONG_AGO + timedelta(days=1))
    by_date = [row["system"] for row in body(f"{API}/?sort=received_at")["rows"]]
    assert by_date == ["Contrary", "Bernoulli"]
    assert by_date[::-1] == [row["system"] for row in body(f"{API}/?sort=-received_at")["rows"]]


def test_of_equal_submissions_the_earlier_one_stands_in_any_scoring_order(world: World) -> None:
    twins = teams.system(team=world.system.team, name="Twins", by=world.researcher)
    first = world.submit(HALF, system=twins)
    world.submit({**LABELS, "a1": "REFUTES", "a2": "SUPPORTS"}, system=twins)
    score_all()
    correct(world, gold_lines().replace(b"\n", b"\r\n"))
    for run in Run.objects.filter(state=State.QUEUED).order_by("-queued_at"):
        runs.WORK.run(run.pk)
    (row,) = [row for row in body(f"{API}/")["rows"] if row["system"] == "Twins"]
    assert (row["submission"], row["scores"][0]["value"]) == (str(first.pk), 0.5)


def test_a_frozen_board_has_the_views_of_the_current_one(world: World) -> None:
    tabs = tabs_of(page(FROZEN))
    views = ("", "symmetric/", "pairs/", "by/label/", "by/origin/", "progress/", "significance/", "head-to-head/")
    assert tabs == [FROZEN + view for view in views]
    for tab in tabs:
        markup = page(tab)
        assert "Frozen." in markup and f'href="{tab}" aria-current="page"' in markup
        assert tabs_of(markup) == tabs
        assert f"{API}.csv?{FIRST}" in links(markup)
    frozen, present = (page(f"{where}by/origin/?measure=accuracy&sort=micro") for where in (FROZEN, PAGE))
    assert frozen.index("Bernoulli") < frozen.index("Contrary")
    assert present.index("Contrary") < present.index("Bernoulli") and "Frozen." not in present
    assert Client().get(f"{PAGE}gold-3/task-1/by/origin/").status_code == 404
    assert Client().get(f"{FROZEN}by/absent/").status_code == 404
    assert Client().get(f"{FROZEN}cost/").status_code == 404


def test_a_current_board_at_its_permanent_address_marks_the_tab_of_the_view(world: World) -> None:
    for view in ("", "by/label/", "head-to-head/"):
        assert f'href="{PAGE}{view}" aria-current="page"' in page(f"{PAGE}gold-2/task-1/{view}")


def test_crossed_boards_are_frozen_with_their_numbers(world: World) -> None:
    type(world.phase).objects.update(options={"cross": "label,origin"})
    markup = page(f"{FROZEN}two-way/label/origin/")
    assert f"{FROZEN}two-way/label/origin/" in links(markup) and "Frozen." in markup


def test_a_frozen_board_names_its_successor_and_the_reason(world: World) -> None:
    gold = world.split.gold_versions.get(number=2)
    frozen_page = page(FROZEN)
    note = frozen_page[frozen_page.index("Frozen.") : frozen_page.index("Current board")]
    assert "the former board of gold version 1, task version 1." in note
    assert "Gold version 2, corrected" in note and gold.created_at.strftime("%Y-%m-%d %H:%M") in note
    assert "labels of &lt;b&gt;batch 3&lt;/b&gt; were swapped" in note and "scorer" not in note
    Leaderboard.objects.create(
        phase=world.phase, gold_version=world.gold, task_version=2, state=Leaderboard.State.FROZEN
    )
    frozen_page = page(FROZEN)
    note = frozen_page[frozen_page.index("Frozen.") : frozen_page.index("Current board")]
    assert "The scorer changed to task version 2" in note and "corrected" not in note


def test_a_submission_has_receipts_of_all_its_scores(world: World) -> None:
    correct(world, gold_lines().replace(b"\n", b"\r\n"))  # preparing, and not yet public
    for run in Run.objects.filter(state=State.QUEUED, prediction__submission__system=world.system):
        runs.WORK.run(run.pk)
    submission = Submission.objects.get(system=world.system)
    ada = Client()
    ada.force_login(world.researcher)
    content = ada.get(f"/api/v1/submissions/{submission.pk}/").json()
    scorings = [
        (scoring["gold_version"], scoring["task_version"], scoring["value"], scoring["is_current"])
        for scoring in content["scorings"]
    ]
    assert scorings == [(2, 1, 0.0, True), (1, 1, 1.0, False)]
    golds = {gold.number: gold.sha256 for gold in world.split.gold_versions.all()}
    assert [scoring["receipt"]["gold_version"] for scoring in content["scorings"]] == [2, 1]
    organiser = Client()
    organiser.force_login(world.curator)
    shown = organiser.get(f"/api/v1/submissions/{submission.pk}/").json()["scorings"]
    assert [scoring["receipt"]["gold_sha256"] for scoring in shown] == [golds[2], golds[1]]
    assert values(body(content["scorings"][1]["leaderboard"]))["Bernoulli"] == 1.0
    where = f"/submissions/{submission.pk}/receipt.json"
    markup = ada.get(submission.get_absolute_url()).content.decode()
    for number, value in ((1, 1.0), (2, 0.0)):
        address = f"{where}?gold_version={number}&task_version=1"
        assert address in links(markup)
        document = ada.get(address).json()
        assert document["receipt"]["gold_version"] == number
        assert organiser.get(address).json()["receipt"]["gold_sha256"] == golds[number]
        assert next(scoring["value"] for scoring in document["scores"] if scoring["measure"] == "accuracy") == value
    assert FROZEN in links(markup) and f"{where}?gold_version=3&task_version=1" not in links(markup)
    for query in ("gold_version=3&task_version=1", "gold_version=1", "task_version=1", "gold_version=x&task_version=1"):
        assert ada.get(f"{where}?{query}").status_code == 404
    assert f"{where}?{FIRST}" in links(ada.get(FROZEN).content.decode())
    assert not [link for link in links(page(FROZEN)) if "receipt" in link], "outsiders get no link to a receipt"
