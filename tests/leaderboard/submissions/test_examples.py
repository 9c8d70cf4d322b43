"""The list of examples of one's own submission: shown where gold is public, and never for hidden gold."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from leaderboard.models import Phase, Run, Split, User
from leaderboard.scoring.actions import runs
from tests.leaderboard.submissions.test_people_pages import text
from tests.support import custom_scorers
from tests.support.rows import tiny_world
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import LABELS, World

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]


def built() -> World:
    world = tiny_world.build()
    Split.objects.update(gold_public=True)
    world.phase.split.refresh_from_db()
    return world


world, _django_db_helper = shared_states(world=built)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def ada(world: World) -> Client:
    return client_of(world.researcher)


def scored(world: World) -> str:
    """Submit predictions of which a1 is wrong, score them, and return the submission's page."""
    submission = world.submit({**LABELS, "a1": "REFUTES"})
    runs.WORK.run(submission.predictions.get().runs.get().pk)
    return submission.get_absolute_url()


def lines(client: Client, page: str, query: str = "") -> list[dict[str, Any]]:
    return [json.loads(line) for line in client.get(f"{page}examples.jsonl{query}").content.splitlines()]


def test_each_item_has_input_gold_prediction_and_result(world: World, ada: Client) -> None:
    page = scored(world)
    assert f"{page}examples/" in text(ada.get(page))
    shown = text(ada.get(f"{page}examples/"))
    assert "<strong>4</strong> examples" in shown and shown.count(">right<") == 3 and shown.count(">wrong<") == 1
    rows = lines(ada, page)
    assert [(row["id"], row["share"]) for row in rows] == [("a1", 0.0), ("a2", 1.0), ("a3", 1.0), ("a4", 1.0)]
    assert rows[0]["gold"] == {"label": "SUPPORTS"} and rows[0]["input"]["claim"] == "claim 0"
    assert rows[0]["predictions"] == [{"id": "a1", "predicted_label": "REFUTES"}]
    table = list(csv.DictReader(io.StringIO(ada.get(f"{page}examples.csv").content.decode())))
    assert [(row["id"], row["cell"]) for row in table][:2] == [
        ("a1", "SUPPORTS → REFUTES"),
        ("a2", "REFUTES → REFUTES"),
    ]
    for query, ids in (
        ("?result=wrong", ["a1"]),
        ("?slice=origin:original", ["a1"]),
        ("?slice=origin:generated&result=right", ["a2", "a3", "a4"]),
        ("?cell=SUPPORTS → SUPPORTS", ["a4"]),
        ("?slice=origin:none", []),
    ):
        assert [row["id"] for row in lines(ada, page, query)] == ids
    assert "No examples match" in text(ada.get(f"{page}examples/?page=9"))
    assert client_of(world.curator).get(f"{page}examples/").status_code == 200


def hide_gold(world: World) -> None:
    Split.objects.update(gold_public=False)


def hide_inputs(world: World) -> None:
    Split.objects.update(gold_public=False, inputs_public=False)


def make_draft(world: World) -> None:
    Split.objects.update(**tiny_world.DRAFT)


def make_ladder(world: World) -> None:
    Phase.objects.update(disclosure=Phase.Disclosure.LADDER)


def score_with_an_image(world: World) -> None:
    Run.objects.update(scorer=custom_scorers.row(world))


@pytest.mark.parametrize("change", [hide_gold, hide_inputs, make_draft, make_ladder, score_with_an_image])
def test_nothing_is_shown_of_hidden_gold_or_of_a_custom_scorer(world: World, ada: Client, change: Any) -> None:
    page = scored(world)
    change(world)
    for client in (ada, client_of(world.curator)):
        assert "examples" not in text(client.get(page))
        for address in ("examples/", "examples.csv", "examples.jsonl", "examples/?result=right", "examples.json"):
            assert client.get(page + address).status_code == 404
        assert client.get(f"/api/v1{page}examples/").status_code == 404
        assert '"share"' not in text(client.get(f"/api/v1{page}"))


def test_nothing_is_shown_before_there_are_scores(world: World, ada: Client) -> None:
    page = world.submit().get_absolute_url()
    assert "examples" not in text(ada.get(page)) and ada.get(f"{page}examples/").status_code == 404


def test_others_see_no_examples(world: World, ada: Client) -> None:
    page = scored(world)
    stranger = client_of(User.objects.create_user("bob", "bob@holdout.example", "correct horse"))
    for address in ("examples/", "examples.csv", "examples.jsonl"):
        assert stranger.get(page + address).status_code == 404
        assert Client().get(page + address).status_code == 302


def test_lists_are_limited_by_their_processor_time(world: World, ada: Client, settings: Any) -> None:
    cache.clear()
    page = scored(world)
    settings.REFUSED_SECONDS = 0
    assert ada.get(f"{page}examples/").status_code == 200
    response = ada.get(f"{page}examples/?result=wrong")
    assert response.status_code == 429 and "Try again later" in text(response) and response["Retry-After"]
    assert ada.get(f"{page}examples.csv").status_code == 429
