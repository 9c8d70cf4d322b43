"""Container settings of curators, and the state of workers that they see."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.models import Phase, Split, State, WorkerReport
from tests.leaderboard.benchmarks.test_manage_pages import client_of as session_of
from tests.leaderboard.benchmarks.test_manage_pages import split_form
from tests.leaderboard.submissions.test_people_pages import text
from tests.support.api_calls import client_of, send
from tests.support.rows import tiny_world
from tests.support.rows.container_rows import engine_is_there, insert, takes_images
from tests.support.rows.tiny_world import TOLD_IN_FULL, World
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
DESK = "/manage/benchmarks/tiny/"


@pytest.fixture
def here() -> World:
    return tiny_world.build()


@pytest.fixture
def curator(here: World) -> Client:
    return session_of(here.curator)


def phase_form(here: World, **changes: Any) -> dict[str, Any]:
    form = {"title": "Boxes", "slug": "boxes", "split": here.split.pk, "quota_per_day": 1, "quota_total": 1}
    return {**form, **TOLD_IN_FULL, "takes_images": "on", **changes}


def test_limits_are_stored_in_the_units_of_containers(here: World, curator: Client) -> None:
    filled = {"seconds": "90.5", "memory_mb": "512", "cpus": "0.5", "image_mb": "2000", "shows_logs": "no"}
    assert curator.post(f"{DESK}phases/create/", phase_form(here, **filled)).status_code == 302
    phase = Phase.objects.get(slug="boxes")
    assert (phase.takes_predictions, phase.takes_images, phase.shows_logs) == (False, True, False)
    assert phase.limits == {
        "wall_seconds": 90.5,
        "memory_bytes": 512_000_000,
        "cpus": 0.5,
        "image_bytes": 2_000_000_000,
    }
    page = curator.get(DESK).content.decode()
    assert read(page).faults == []
    assert "Limits of containers in <bdi>Boxes</bdi>" in page and "90.5 s" in page
    assert '<td class="nowrap">images</td>' in " ".join(page.replace("\n", "").split())


def test_empty_limits_mean_the_servers_limits(here: World, curator: Client) -> None:
    curator.post(f"{DESK}phases/create/", phase_form(here, takes_predictions="on"))
    phase = Phase.objects.get(slug="boxes")
    assert (phase.limits, phase.shows_logs, phase.takes_predictions) == ({}, None, True)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"takes_images": ""}, "The phase accepts nothing"),
        (
            {"takes_images": "", "takes_predictions": "on", "seconds": "9"},
            "Limits are set, but images are not accepted",
        ),
        ({"seconds": "0"}, "greater than or equal to 1"),
        ({"memory_mb": "much"}, "Enter a whole number"),
        ({"cpus": "nan"}, "Enter a number"),
        ({"shows_logs": "perhaps"}, "Select a valid choice"),
    ],
)
def test_invalid_combinations_are_refused(here: World, curator: Client, changes: dict[str, Any], message: str) -> None:
    response = curator.post(f"{DESK}phases/create/", phase_form(here, **changes))
    assert response.status_code == 422
    assert message in text(response)
    assert Phase.objects.count() == 1


@pytest.mark.parametrize(("requested", "status"), [("2.5", 422), ("2", 302)])
def test_a_phase_cannot_ask_for_more_processors_than_its_engines_have(
    here: World, curator: Client, requested: str, status: int
) -> None:
    engine_is_there(detail={"processors": 1.0})
    engine_is_there(detail={"processors": 2.0}, host="engine-2")
    engine_is_there(detail={"processors": 64.0}, host="gone", seen_at=timezone.now() - timedelta(hours=1))
    response = curator.post(f"{DESK}phases/create/", phase_form(here, cpus=requested))
    assert response.status_code == status
    if status == 422:
        assert "2.5 processors are more than the container engine has; expected at most 2." in text(response)


def test_without_a_report_from_an_engine_any_number_of_processors_is_accepted(here: World, curator: Client) -> None:
    engine_is_there()
    assert curator.post(f"{DESK}phases/create/", phase_form(here, cpus="64")).status_code == 302


def test_a_split_with_hidden_inputs_accepts_only_images(here: World, curator: Client, sandbox: str) -> None:
    form = split_form(tiny_world.gold_lines(), hide_inputs="on")
    assert curator.post(f"{DESK}splits/create/", form).status_code == 302
    split = Split.objects.get(name="fold-4")
    assert not split.inputs_public
    assert Client().get("/benchmarks/tiny/splits/fold-4/inputs.jsonl").status_code == 404
    assert "hidden" in text(curator.get(DESK))
    refused = curator.post(f"{DESK}phases/create/", phase_form(here, split=split.pk, takes_predictions="on"))
    assert refused.status_code == 422
    assert "expected images only" in text(refused)
    assert curator.post(f"{DESK}phases/create/", phase_form(here, split=split.pk)).status_code == 302


def test_gold_cannot_be_public_when_inputs_are_hidden(here: World, curator: Client, sandbox: str) -> None:
    form = split_form(tiny_world.gold_lines(), hide_inputs="on", gold_public="on")
    response = curator.post(f"{DESK}splits/create/", form)
    assert response.status_code == 422
    assert not Split.objects.filter(name="fold-4").exists()


# --- workers


def test_the_workers_page_shows_readiness_and_queue_lengths(here: World, curator: Client) -> None:
    takes_images(here)
    nobody = curator.get("/manage/workers/").content.decode()
    assert read(nobody).faults == []
    assert "No worker has reported yet" in nobody
    engine_is_there()
    worker_report = {"host": "engine-2", "queue": "systems", "ready": False, "message": "start <b>dockerd</b>"}
    for report in (
        worker_report,
        {**worker_report, "host": "engine-3", "seen_at": timezone.now() - timedelta(minutes=5)},
    ):
        WorkerReport.objects.create(**{"seen_at": timezone.now(), **report})
    insert(here)
    insert(here, state=State.RUNNING, stage="running")
    page = curator.get("/manage/workers/").content.decode()
    assert read(page).faults == []
    rows = {row.split("</bdi>")[0].split("<bdi>")[1]: row for row in page.split("<tr>")[2:]}
    assert ">ready<" in rows["engine-1"]
    assert ">not ready<" in rows["engine-2"] and "start &lt;b&gt;dockerd" in rows["engine-2"]
    assert ">gone<" in rows["engine-3"]
    assert "1</strong> container waits," in page and "1</strong> is running" in page
    assert "the container runs" in page


def test_only_curators_get_a_link_to_the_workers(here: World, curator: Client) -> None:
    assert "/manage/workers/" in text(curator.get("/manage/"))
    here.benchmark.organisers.add(here.researcher)
    ada = session_of(here.researcher)
    assert "/manage/workers/" not in text(ada.get("/manage/"))
    assert ada.get("/manage/workers/").status_code == 404


# --- Retry-After


def test_the_api_says_when_the_day_is_over(here: World, sandbox: str) -> None:
    takes_images(here, quota_per_day=1, quota_total=2)
    client = client_of(here.researcher)
    assert send(client, tiny_world.prediction_lines()).status_code == 201
    answer = send(client, tiny_world.prediction_lines())
    assert (answer.status_code, answer.json()["code"]) == (429, "quota_exceeded")
    assert 0 < int(answer["Retry-After"]) <= 86_400
    takes_images(here, quota_total=1)
    over = send(client, tiny_world.prediction_lines())
    assert over.status_code == 429
    assert "Retry-After" not in over, "waiting does not restore a quota that does not reset"


def test_failed_log_ins_get_a_retry_after_of_one_minute(here: World, settings: Any) -> None:
    settings.ACCOUNT_RATE_LIMITS = {"login_failed": "1/m/ip", "signup": "1/m/ip"}
    ask = Client()
    guess = {"username": "ada", "password": "wrong"}
    answers = [ask.post("/api/v1/auth/tokens/", guess, content_type="application/json") for _ in range(3)]
    assert answers[-1].status_code == 429
    assert int(answers[-1]["Retry-After"]) >= 60
    pages = [ask.post("/accounts/signup/", {"username": "x"}) for _ in range(3)]
    assert pages[-1].status_code == 429
    assert pages[-1]["Retry-After"] == "60"
