"""Head-to-head comparison of two systems: computed once, by a worker, and shown as far as the phase allows."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from evaluator.tasks.registry import TASKS
from leaderboard.comparisons.actions import head_to_head
from leaderboard.comparisons.web import rate_limit
from leaderboard.evaluation import sandbox_client
from leaderboard.models import HeadToHead, Phase, Reason, Run, Split, Standing, State
from tests.support import custom_scorers
from tests.support.rows.board_rows import stand
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import TASK, World, build
from tests.support.rows.wide_phase import build_wide, enter, score_all

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]
WHERE = "/benchmarks/tiny/test/head-to-head/"


def three_systems() -> World:
    """Forty claims: one system has all right, one the first ten wrong, one only the first wrong."""
    world = build_wide()
    for name, wrong in (("Best", 0), ("Worse", 10), ("Good", 1)):
        enter(world, name, wrong)
    score_all()
    return world


world, _django_db_helper = shared_states(world=three_systems)


@pytest.fixture(autouse=True)
def no_requests() -> None:
    """Deletes the requests of earlier tests."""
    cache.clear()


@pytest.fixture
def gold_was_sent(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each request to the sandbox, whether it included the gold."""
    requests: list[bool] = []
    original = sandbox_client.head_to_head

    def watched(files: Any, **question: Any) -> sandbox_client.Answer:
        requests.append("gold" in files)
        return original(files, **question)

    monkeypatch.setattr(sandbox_client, "head_to_head", watched)
    return requests


def system(name: str) -> int:
    return Standing.objects.get(system__name=name, leaderboard__state="current").system_id


def page(a: str = "Best", b: str = "Worse", **query: Any) -> Any:
    return Client().get(WHERE, {"a": system(a), "b": system(b), **query})


def compute() -> None:
    for row in HeadToHead.objects.filter(state=State.QUEUED):
        head_to_head.WORK.run(row.pk)


def text(response: Any) -> str:
    return response.content.decode()


def test_the_first_reader_requests_the_comparison_and_all_readers_see_it(
    world: World, gold_was_sent: list[bool]
) -> None:
    first = page()
    assert not first.context["computed"] and "being computed" in text(first)
    assert "0.750" in text(first), "the board's values are shown at once"
    compute()
    line = page().context["line"]
    # Ten of forty claims: the difference is a quarter, and Worse is right on no claim that Best has wrong.
    assert line.difference == 0.25
    assert 0 < line.low < 0.25 < line.high < 0.5
    assert line.p < 0.01
    assert (line.counts.both, line.counts.a_only, line.counts.b_only, line.counts.neither) == (30, 10, 0, 0)
    page()
    compute()
    assert gold_was_sent == [False], "computed once, and the held-out gold was not sent"


def test_the_lists_show_which_systems_are_compared(world: World) -> None:
    response = page()
    for name in ("a", "b"):
        options = text(response).partition(f'<select id="{name}"')[2].partition("</select>")[0]
        assert options.count(" selected") == 1
        assert f'value="{response.context[name].system_id}" selected' in options


def test_each_slice_has_its_own_line(world: World) -> None:
    page()
    compute()
    (table,) = page().context["tables"]
    assert {line.title: (line.difference, line.counts.a_only) for line in table.lines} == {
        "SUPPORTS": (0.25, 5),
        "REFUTES": (0.25, 5),
    }
    assert all(line.p_holm >= line.p for line in table.lines)
    assert "Only first right" in text(page())
    assert re.search(r'title="SUPPORTS: \+0\.250, 95\s%\sinterval .+, (not )?significant at 5 %"', text(page()))


def test_swapping_the_systems_negates_the_difference(world: World) -> None:
    page()
    compute()
    forward, backward = page().context["line"], page("Worse", "Best").context["line"]
    assert (backward.difference, backward.low, backward.high) == (-forward.difference, -forward.high, -forward.low)
    assert (backward.counts.a_only, backward.counts.b_only) == (forward.counts.b_only, forward.counts.a_only)
    assert backward.p == forward.p
    assert HeadToHead.objects.count() == 1


def test_items_are_named_where_the_gold_is_public(world: World, gold_was_sent: list[bool]) -> None:
    Split.objects.update(gold_public=True)
    page()
    compute()
    assert gold_was_sent == [True]
    (_, only_first_wrong), (_, only_second_wrong) = page().context["items"]
    assert [item.id for item in only_first_wrong] == [f'"c{index}"' for index in range(10)]
    assert list(only_second_wrong) == []
    assert "claim c9" in text(page())


def test_items_of_a_held_out_split_are_never_named(world: World) -> None:
    Split.objects.update(gold_public=True)
    page()
    compute()
    Split.objects.update(gold_public=False)
    assert "claim c9" not in text(page())
    assert "held out" in text(page())


def test_a_ladder_phase_shows_no_difference_and_requests_none(world: World) -> None:
    page()
    compute()
    Phase.objects.update(disclosure=Phase.Disclosure.LADDER)
    HeadToHead.objects.all().delete()
    response = page()
    assert not response.context["computed"] and "This phase does not show differences" in text(response)
    assert response.content.decode().count("≥\N{NO-BREAK SPACE}") >= 2, "scores on a ladder are bounds"
    assert HeadToHead.objects.count() == 0


def test_a_stored_difference_is_hidden_once_the_phase_discloses_none(world: World) -> None:
    page()
    compute()
    Phase.objects.update(disclosure=Phase.Disclosure.LADDER)
    response = page()
    assert response.context["line"].difference is None and response.context["line"].counts is None
    assert "Both are right" not in text(response)


def test_counts_are_shown_only_under_full_disclosure(world: World) -> None:
    page()
    compute()
    at = timezone.now()
    Phase.objects.update(disclosure="sealed", sealed_until=at, closes_at=at, unsealed_at=at)
    line = page().context["line"]
    assert line.difference == 0.25 and line.counts is None


PAIRS = (("Best", "Worse"), ("Best", "Good"), ("Good", "Worse"))


def request_from(address: str, a: str, b: str, client: Client | None = None) -> Any:
    query = {"a": system(a), "b": system(b)}
    return (client or Client()).get(WHERE, query, REMOTE_ADDR=address)


def n_queued() -> int:
    return HeadToHead.objects.filter(state=State.QUEUED).count()


def test_simultaneous_readers_cannot_queue_duplicate_work(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head_to_head, "MOST_WAITING", 2)
    for index, (a, b) in enumerate((PAIRS[0], PAIRS[0], PAIRS[0][::-1], PAIRS[1])):
        assert request_from(f"198.51.100.{index}", a, b).status_code == 200
    response = request_from("198.51.100.9", *PAIRS[2])
    assert (response.status_code, response["Retry-After"]) == (503, "60")
    assert "too many other comparisons are waiting" in text(response) and "0.975" in text(response)
    assert HeadToHead.objects.count() == 2
    compute()
    assert request_from("198.51.100.9", *PAIRS[2]).status_code == 200
    assert n_queued() == 1


def test_one_reader_cannot_fill_the_queue(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "MOST_WAITING", 2)
    address = "198.51.100.1"
    assert [request_from(address, *pair).status_code for pair in PAIRS] == [200, 200, 429]
    refused = request_from(address, *PAIRS[2])
    assert "requested many new comparisons" in text(refused) and refused["Retry-After"] == "60"
    assert n_queued() == 2
    assert request_from(address, *PAIRS[0]).status_code == 200, "a queued comparison can still be viewed"
    assert request_from("198.51.100.2", *PAIRS[2]).status_code == 200, "another reader can still request one"
    assert n_queued() == 3
    compute()
    HeadToHead.objects.latest("pk").delete()
    assert request_from(address, *PAIRS[2]).status_code == 200, "a computed comparison no longer counts as waiting"


def test_the_pairs_of_one_reader_are_limited_per_hour(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "MOST_WITHIN", 2)
    for pair in PAIRS[:2]:
        request_from("198.51.100.1", *pair)
        compute()
    assert request_from("198.51.100.1", *PAIRS[2]).status_code == 429
    assert request_from("198.51.100.1", *PAIRS[0]).status_code == 200, "computed comparisons are available to everybody"
    later = timezone.now() + timedelta(hours=1, seconds=1)
    monkeypatch.setattr(rate_limit.timezone, "now", lambda: later)
    assert request_from("198.51.100.1", *PAIRS[2]).status_code == 200


def test_a_person_who_changes_addresses_counts_as_one_reader(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "MOST_WAITING", 1)
    client = Client()
    client.force_login(world.researcher)
    assert request_from("198.51.100.1", *PAIRS[0], client).status_code == 200
    assert request_from("198.51.100.2", *PAIRS[1], client).status_code == 429


@pytest.mark.parametrize(("second", "status"), [("2001:db8:0:1:ffff::9", 429), ("2001:db8:0:2::1", 200)])
def test_an_ipv6_network_counts_as_one_reader(
    world: World, monkeypatch: pytest.MonkeyPatch, second: str, status: int
) -> None:
    monkeypatch.setattr(rate_limit, "MOST_WAITING", 1)
    assert request_from("2001:db8:0:1::1", *PAIRS[0]).status_code == 200
    assert request_from(second, *PAIRS[1]).status_code == status


def test_a_head_request_queues_nothing(world: World) -> None:
    assert Client().head(WHERE).status_code == 200
    assert HeadToHead.objects.count() == 0


def test_a_board_of_an_earlier_task_version_says_so_and_queues_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    page("Best", "Good")
    monkeypatch.setattr(TASKS[TASK], "version", 2)
    compute()
    assert HeadToHead.objects.get().reason == Reason.OUTDATED
    for a, b in PAIRS:
        response = page(a, b)
        assert response.status_code == 200 and "an earlier version of the task" in text(response)
        assert "being computed" not in text(response) and "could not" not in text(response)
    assert HeadToHead.objects.count() == 1


def test_a_result_of_an_earlier_task_version_stays_visible(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    page()
    compute()
    monkeypatch.setattr(TASKS[TASK], "version", 2)
    assert page().context["line"].difference == 0.25


def test_systems_without_stored_outcomes_are_reported(world: World) -> None:
    Run.objects.update(outcomes="", outcomes_sha256="", scorer=custom_scorers.row(world))
    assert "no per-unit outcomes" in text(page())
    assert HeadToHead.objects.count() == 0


def test_after_a_worker_dies_another_retries_and_at_last_the_page_says_so(world: World) -> None:
    page()
    for attempt in range(1, settings.MAX_ATTEMPTS + 1):
        past = timezone.now() - timedelta(seconds=1)
        HeadToHead.objects.update(state=State.RUNNING, attempt=attempt, lease_until=past)
        head_to_head.WORK.sweep()
    row = HeadToHead.objects.get()
    assert (row.state, row.reason) == (State.FAILED, Reason.LOST)
    assert "could not be computed: every attempt was interrupted" in text(page())


def test_a_late_worker_changes_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    page()
    original = sandbox_client.head_to_head

    def robbed(files: Any, **question: Any) -> sandbox_client.Answer:
        HeadToHead.objects.update(attempt=9)
        return original(files, **question)

    monkeypatch.setattr(sandbox_client, "head_to_head", robbed)
    compute()
    row = HeadToHead.objects.get()
    assert (row.state, row.report, row.attempt) == (State.RUNNING, {}, 9)


def test_an_inconsistent_report_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    page()
    original = sandbox_client.head_to_head

    def changed(files: Any, **question: Any) -> sandbox_client.Answer:
        answer = original(files, **question)
        answer.report["comparisons"][0]["difference"] = "much"
        return answer

    monkeypatch.setattr(sandbox_client, "head_to_head", changed)
    compute()
    row = HeadToHead.objects.get()
    assert (row.state, row.reason, row.report) == (State.FAILED, Reason.BAD_REPORT, {})


@pytest.mark.parametrize("query", [{"a": "999"}, {"a": "x"}, {"b": "999"}])
def test_a_system_that_is_not_on_the_board_is_a_404(query: dict[str, str]) -> None:
    world = build()
    stand(world, "Bernoulli")
    stand(world, "Carnot")
    assert Client().get(WHERE).status_code == 200
    assert Client().get(WHERE, query).status_code == 404


def test_fewer_than_two_systems_cannot_be_compared() -> None:
    world = build()
    stand(world, "Bernoulli")
    assert "A comparison needs two systems on the board" in text(Client().get(WHERE))
    assert "Head to head" not in text(Client().get("/benchmarks/tiny/test/"))
