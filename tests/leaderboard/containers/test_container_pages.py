"""Page of a submitted image: its state, its cost, its log, and who sees how much of them."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.models import AuditEntry, Prediction, QuotaCharge, Run, State, User
from leaderboard.templatetags.logs import printed
from tests.leaderboard.submissions.test_people_pages import text
from tests.support.rows import tiny_world
from tests.support.rows.container_rows import DIGEST, hide_inputs, insert, ran, takes_images
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
LOG = "loading\n<script>alert(1)</script>\x1b[31mred\u202eder"
EXACT = ("37.25", "301000000", "113")


def exact_values_in(page: str) -> list[str]:
    """The exact values that the page shows as numbers; digits in a random id do not count."""
    return [value for value in EXACT if re.search(rf"(?<![0-9a-f-]){re.escape(value)}(?![0-9a-f-])", page)]


def built() -> World:
    new_world = tiny_world.build()
    takes_images(new_world)
    return new_world


world, _django_db_helper = shared_states(world=built)


def client_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def ada(world: World) -> Client:
    return client_of(world.researcher)


@pytest.fixture
def olga(world: World) -> Client:
    """An organiser."""
    user = User.objects.create_user("olga", "olga@holdout.example", "correct horse")
    world.benchmark.organisers.add(user)
    return client_of(user)


def page_of(client: Client, prediction: Prediction) -> str:
    """The page, checked to be well-formed."""
    response = client.get(prediction.submission.get_absolute_url())
    assert response.status_code == 200
    assert read(response.content.decode()).faults == []
    return text(response)


def api_content(client: Client, prediction: Prediction) -> dict[str, Any]:
    return client.get(f"/api/v1/submissions/{prediction.submission.pk}/").json()


def scored_run(world: World, prediction: Prediction) -> Run:
    at = timezone.now()
    provenance = {
        "predictions_sha256": "ab" * 32,
        "seconds": 0.5,
        "sandbox_start_seconds": 0.1,
        "task": tiny_world.TASK,
    }
    provenance |= {"options": {}, "resamples": 1000, "seed": 0, "packages": {}, "sandbox": {}}
    return Run.objects.create(
        prediction=prediction,
        gold_version=world.gold,
        task_version=1,
        state=State.DONE,
        provenance=provenance,
        outcomes="outcomes/none",
        outcomes_sha256="cd" * 32,
        queued_at=at,
        enqueued_at=at,
        finished_at=at,
    )


# --- state


def test_a_queued_image_says_why_it_waits(world: World, ada: Client) -> None:
    insert(world)
    page = page_of(ada, insert(world))
    assert "Waiting for a worker with a container engine. 1 ahead in the queue." in page
    assert "hx-get" in page


@pytest.mark.parametrize(
    ("stage", "expected"),
    [
        ("reading", "Reading the image"),
        ("loading", "Handing the image to the engine"),
        ("running", "The container runs"),
        ("collecting", "Collecting and checking the predictions"),
        ("", "Claimed by a worker"),
    ],
)
def test_each_stage_is_shown_with_the_time_used(world: World, ada: Client, stage: str, expected: str) -> None:
    started = timezone.now() - timedelta(seconds=34)
    prediction = insert(world, state=State.RUNNING, stage=stage, started_at=started)
    page = page_of(ada, prediction)
    assert expected in page
    assert re.search(r"claimed it (3[4-9]|[4-9]\d) s ago; the container itself may run for 600 s", page)
    assert api_content(ada, prediction)["stage"] == stage


def test_no_time_is_shown_with_hidden_inputs(world: World, ada: Client) -> None:
    hide_inputs(world)
    started = timezone.now() - timedelta(seconds=34)
    page = page_of(ada, insert(world, state=State.RUNNING, stage="running", started_at=started))
    assert "The container runs" in page
    assert "34 s" not in page.split("state-now")[1].split("</section>")[0]
    assert "<progress" not in page


def test_predictions_from_a_container_wait_for_scoring(world: World, ada: Client) -> None:
    prediction = insert(world, state=State.DONE, with_file=True, **ran())
    at = timezone.now()
    Run.objects.create(prediction=prediction, gold_version=world.gold, task_version=1, queued_at=at, enqueued_at=at)
    page = page_of(ada, prediction)
    assert "wait to be scored" in page
    assert "Withdraw" not in page


# --- cost


def test_the_cost_is_shown_only_in_coarse_steps(world: World, ada: Client) -> None:
    prediction = insert(world, state=State.DONE, with_file=True, **ran(log="37 passages"))
    page = page_of(ada, prediction)
    for step in ("45.3 s", "362 MB", "90.5 MB"):
        assert step in page
    assert exact_values_in(page) == []
    cost = api_content(ada, prediction)["cost"]
    assert cost == {"wall_seconds": 45.3, "cpu_seconds": 45.3, "memory_mb": 362, "image_mb": 90.5}


def test_organisers_see_the_exact_record(world: World, olga: Client) -> None:
    hide_inputs(world)
    page = page_of(olga, insert(world, state=State.DONE, with_file=True, **ran(log=LOG)))
    assert [exact for exact in EXACT if exact not in page] == []
    assert '<dt>timings.create</dt><dd class="digest">0.123</dd>' in page
    assert "You can see this because you manage the benchmark" in page


# --- log


def test_the_log_is_escaped_and_its_control_characters_are_visible(world: World, ada: Client) -> None:
    page = page_of(ada, insert(world, state=State.REJECTED, reason="system_exit", **ran(log=LOG)))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\u241b[31mred\\u202eder" in page
    assert "<script>alert" not in page and "\x1b" not in page and "\u202e" not in page


def test_printed_keeps_newlines_and_tabs_and_escapes_other_controls() -> None:
    assert printed("a\tb\r\nc\rd\x00\x7f\x9b") == "a\tb\nc\u240dd\u2400\u2421\\x9b"


@pytest.mark.parametrize(
    ("setting", "hidden", "expected"),
    [(None, False, True), (None, True, False), (False, False, False), (True, True, True)],
)
def test_the_team_sees_the_log_where_the_phase_allows_it(
    world: World, ada: Client, setting: bool | None, hidden: bool, expected: bool
) -> None:
    takes_images(world, shows_logs=setting)
    if hidden:
        hide_inputs(world)
    prediction = insert(world, state=State.REJECTED, reason="system_exit", **ran(log="a canary sings"))
    assert ("a canary sings" in page_of(ada, prediction)) is expected
    assert api_content(ada, prediction)["log"] == ("a canary sings" if expected else "")


# --- hidden inputs


def test_with_hidden_inputs_the_team_sees_nothing_of_the_file(world: World, ada: Client) -> None:
    hide_inputs(world)
    prediction = insert(world, state=State.DONE, with_file=True, **ran(log="a canary sings"))
    scored_run(world, prediction)
    address = prediction.submission.get_absolute_url()
    answer = api_content(ada, prediction)
    visible = page_of(ada, prediction) + str(answer) + text(ada.get(f"{address}state/"))
    for kept_back in ("ab" * 32, "canary", "0.50 s", "predictions.jsonl,"):
        assert kept_back not in visible
    assert exact_values_in(visible) == []
    assert answer["file"] is None
    assert "predictions_sha256" not in answer["receipt"] and "seconds" not in answer["receipt"]
    assert ada.get(f"{address}predictions/").status_code == 404
    assert "Download" not in text(ada.get("/me/submissions/"))


def test_with_open_inputs_the_team_sees_the_file_and_the_whole_receipt(world: World, ada: Client) -> None:
    prediction = insert(world, state=State.DONE, with_file=True, **ran())
    scored_run(world, prediction)
    receipt = api_content(ada, prediction)["receipt"]
    assert receipt["predictions_sha256"] == "ab" * 32
    assert receipt["container"]["image"] == DIGEST
    assert receipt["container"]["runtime"] == "runc"
    assert receipt["container"]["limits"]["wall_seconds"] == 600
    page = page_of(ada, prediction)
    assert DIGEST in page and "ab" * 32 in page and "<code>runc</code>" in page


# --- charged, refunded, withdrawn


def test_a_container_that_ran_is_charged_and_one_that_could_not_run_is_refunded(world: World, ada: Client) -> None:
    problem = {
        "file": "",
        "line": None,
        "what": "it wrote <nothing>",
        "found": "",
        "expected": "",
        "text": "x",
        "count": 1,
    }
    charged = insert(world, state=State.REJECTED, reason="system_output", problems=[problem], **ran())
    page = page_of(ada, charged)
    assert "the container wrote no usable predictions" in page
    assert "It counts against your quota because the container ran." in page
    assert "it wrote &lt;nothing&gt;" in page
    refunded = insert(world, state=State.REJECTED, reason="bad_image")
    QuotaCharge.objects.filter(submission=refunded.submission).update(refunded_at=timezone.now())
    assert "It is refunded" in page_of(ada, refunded)
    refused = insert(world, state=State.REJECTED, reason="bad_image")
    assert "It counts against your quota." in page_of(ada, refused)


@pytest.mark.parametrize("state", [State.QUEUED, State.RUNNING])
def test_its_team_withdraws_a_queued_or_running_submission(world: World, ada: Client, state: str) -> None:
    prediction = insert(world, state=state)
    address = prediction.submission.get_absolute_url()
    assert f'action="{address}withdraw/"' in page_of(ada, prediction)
    response = ada.post(f"{address}withdraw/")
    assert response["Location"] == address
    prediction.refresh_from_db()
    assert (prediction.state, prediction.reason) == (State.CANCELLED, "withdrawn")
    page = text(ada.get(address))
    assert "It was withdrawn and counts against the quota" in page
    assert "Withdraw</button>" not in page
    assert AuditEntry.objects.filter(action="submission.withdrawn", actor=world.researcher).count() == 1
    assert "nothing to withdraw" in text(ada.post(f"{address}withdraw/", follow=True))


def test_the_withdraw_button_follows_the_polled_state(world: World, ada: Client) -> None:
    prediction = insert(world, state=State.RUNNING)
    where = f"{prediction.submission.get_absolute_url()}state/?was=running"
    assert "hx-swap-oob" not in text(ada.get(where))
    Prediction.objects.update(state=State.REJECTED, lease_until=None, finished_at=timezone.now())
    assert '<div id="withdraw" hx-swap-oob="true"></div>' in text(ada.get(where))


# --- lists


def test_my_submissions_distinguish_files_from_images(world: World, ada: Client) -> None:
    insert(world)
    world.insert_run()
    page = ada.get("/me/submissions/").content.decode()
    assert read(page).faults == []
    assert [page.count(f'<td class="nowrap">{kind}</td>') for kind in ("image", "file")] == [1, 1]


def test_the_api_filters_images_by_state(world: World, ada: Client) -> None:
    waiting, over = insert(world), insert(world, state=State.REJECTED, reason="system_exit")
    for state, expected in (("queued", waiting), ("rejected", over)):
        submissions = ada.get(f"/api/v1/submissions/?state={state}").json()["results"]
        assert [(line["id"], line["state"]) for line in submissions] == [(str(expected.submission.pk), state)]


def test_a_page_takes_a_constant_number_of_queries(
    world: World, ada: Client, django_assert_max_num_queries: Any
) -> None:
    prediction = insert(world, state=State.RUNNING, stage="running")
    with django_assert_max_num_queries(11):
        ada.get(f"{prediction.submission.get_absolute_url()}state/")
