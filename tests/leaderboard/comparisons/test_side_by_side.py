"""Two systems of a board side by side: computed once, by a worker, and no more told of it than the phase allows."""

from __future__ import annotations

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
from tests.support.board_rows import stand
from tests.support.tiny_world import TASK, World, build
from tests.support.wide_phase import build_wide, enter, score_all

WHERE = "/benchmarks/tiny/test/side-by-side/"


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    """Forty claims; one system has all right, one the first ten wrong, one the first of them."""
    world = build_wide()
    for name, wrong in (("Best", 0), ("Worse", 10), ("Good", 1)):
        enter(world, name, wrong)
    score_all()
    return world


@pytest.fixture(autouse=True)
def forgotten() -> None:
    """What earlier tests asked for."""
    cache.clear()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each question to the sandbox whether the gold went with it."""
    found: list[bool] = []
    original = sandbox_client.side_by_side

    def watched(**question: Any) -> sandbox_client.Answer:
        found.append(question["gold"] is not None)
        return original(**question)

    monkeypatch.setattr(sandbox_client, "side_by_side", watched)
    return found


def system(name: str) -> int:
    return Standing.objects.get(system__name=name, leaderboard__state="current").system_id


def page(a: str = "Best", b: str = "Worse", **query: Any) -> Any:
    return Client().get(WHERE, {"a": system(a), "b": system(b), **query})


def compute() -> None:
    for row in HeadToHead.objects.filter(state=State.QUEUED):
        head_to_head.WORK.run(row.pk)


def text(response: Any) -> str:
    return response.content.decode()


def test_the_first_reader_asks_and_all_read_what_was_computed(world: World, asked: list[bool]) -> None:
    first = page()
    assert not first.context["computed"] and "being computed" in text(first)
    assert "0.750" in text(first), "what the board shows is there at once"
    compute()
    line = page().context["line"]
    # Ten of forty claims: the difference is a quarter, and nobody is right where the other is but on those.
    assert line.difference == 0.25
    assert 0 < line.low < 0.25 < line.high < 0.5
    assert line.p < 0.01
    assert (line.counts.both, line.counts.a_only, line.counts.b_only, line.counts.neither) == (30, 10, 0, 0)
    page()
    compute()
    assert asked == [False], "computed once, and the held-out gold stayed where it is"


def test_by_slice_each_line_says_its_own(world: World) -> None:
    page()
    compute()
    (table,) = page().context["tables"]
    assert {line.title: (line.difference, line.counts.a_only) for line in table.lines} == {
        "SUPPORTS": (0.25, 5),
        "REFUTES": (0.25, 5),
    }
    assert all(line.p_holm >= line.p for line in table.lines)
    assert "Only first right" in text(page())


def test_the_other_way_round_it_says_the_contrary(world: World) -> None:
    page()
    compute()
    there, back = page().context["line"], page("Worse", "Best").context["line"]
    assert (back.difference, back.low, back.high) == (-there.difference, -there.high, -there.low)
    assert (back.counts.a_only, back.counts.b_only) == (there.counts.b_only, there.counts.a_only)
    assert back.p == there.p
    assert HeadToHead.objects.count() == 1


def test_items_are_named_where_everybody_has_the_gold(world: World, asked: list[bool]) -> None:
    Split.objects.update(gold_public=True)
    page()
    compute()
    assert asked == [True]
    (_, here), (_, there) = page().context["items"]
    assert [item.id for item in here] == [f'"c{place}"' for place in range(10)]
    assert list(there) == []
    assert "claim c9" in text(page())


def test_items_of_a_held_out_split_are_not_named_whatever_was_stored(world: World) -> None:
    Split.objects.update(gold_public=True)
    page()
    compute()
    Split.objects.update(gold_public=False)
    assert "claim c9" not in text(page())
    assert "held out" in text(page())


def test_a_ladder_tells_no_difference_and_asks_for_none(world: World) -> None:
    page()
    compute()
    Phase.objects.update(disclosure=Phase.Disclosure.LADDER)
    HeadToHead.objects.all().delete()
    response = page()
    assert not response.context["computed"] and "This phase does not show differences" in text(response)
    assert HeadToHead.objects.count() == 0


def test_what_was_stored_is_not_told_once_the_phase_tells_none(world: World) -> None:
    page()
    compute()
    Phase.objects.update(disclosure=Phase.Disclosure.LADDER)
    response = page()
    assert response.context["line"].difference is None and response.context["line"].counts is None
    assert "Both are right" not in text(response)


def test_counts_are_told_in_full_phases_alone(world: World) -> None:
    page()
    compute()
    at = timezone.now()
    Phase.objects.update(disclosure="sealed", sealed_until=at, closes_at=at, unsealed_at=at)
    line = page().context["line"]
    assert line.difference == 0.25 and line.counts is None


PAIRS = (("Best", "Worse"), ("Best", "Good"), ("Good", "Worse"))


def from_(address: str, a: str, b: str, client: Client | None = None) -> Any:
    asked = {"a": system(a), "b": system(b)}
    return (client or Client()).get(WHERE, asked, REMOTE_ADDR=address)


def queued() -> int:
    return HeadToHead.objects.filter(state=State.QUEUED).count()


def test_readers_together_cannot_pile_up_work(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(head_to_head, "MOST_WAITING", 2)
    for place, (a, b) in enumerate((PAIRS[0], PAIRS[0], PAIRS[0][::-1], PAIRS[1])):
        assert from_(f"198.51.100.{place}", a, b).status_code == 200
    response = from_("198.51.100.9", *PAIRS[2])
    assert (response.status_code, response["Retry-After"]) == (503, "60")
    assert "too many other comparisons are waiting" in text(response) and "0.975" in text(response)
    assert HeadToHead.objects.count() == 2
    compute()
    assert from_("198.51.100.9", *PAIRS[2]).status_code == 200
    assert queued() == 1


def test_one_reader_leaves_room_for_others(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "MOST_WAITING", 2)
    address = "198.51.100.1"
    assert [from_(address, *pair).status_code for pair in PAIRS] == [200, 200, 429]
    refused = from_(address, *PAIRS[2])
    assert "requested many new comparisons" in text(refused) and refused["Retry-After"] == "60"
    assert queued() == 2
    assert from_(address, *PAIRS[0]).status_code == 200, "what waits already may be looked at"
    assert from_("198.51.100.2", *PAIRS[2]).status_code == 200, "and somebody else may ask"
    assert queued() == 3
    compute()
    HeadToHead.objects.latest("pk").delete()
    assert from_(address, *PAIRS[2]).status_code == 200, "what is computed waits no more"


def test_one_reader_has_so_many_pairs_in_an_hour(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "MOST_WITHIN", 2)
    for pair in PAIRS[:2]:
        from_("198.51.100.1", *pair)
        compute()
    assert from_("198.51.100.1", *PAIRS[2]).status_code == 429
    assert from_("198.51.100.1", *PAIRS[0]).status_code == 200, "what was computed is there for everybody"
    later = timezone.now() + timedelta(hours=1, seconds=1)
    monkeypatch.setattr(rate_limit.timezone, "now", lambda: later)
    assert from_("198.51.100.1", *PAIRS[2]).status_code == 200


def test_a_person_who_changes_addresses_is_one_reader(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rate_limit, "MOST_WAITING", 1)
    client = Client()
    client.force_login(world.researcher)
    assert from_("198.51.100.1", *PAIRS[0], client).status_code == 200
    assert from_("198.51.100.2", *PAIRS[1], client).status_code == 429


@pytest.mark.parametrize(("second", "status"), [("2001:db8:0:1:ffff::9", 429), ("2001:db8:0:2::1", 200)])
def test_a_network_of_ipv6_is_one_reader(
    world: World, monkeypatch: pytest.MonkeyPatch, second: str, status: int
) -> None:
    monkeypatch.setattr(rate_limit, "MOST_WAITING", 1)
    assert from_("2001:db8:0:1::1", *PAIRS[0]).status_code == 200
    assert from_(second, *PAIRS[1]).status_code == status


def test_looking_whether_the_page_is_there_asks_for_nothing(world: World) -> None:
    assert Client().head(WHERE).status_code == 200
    assert HeadToHead.objects.count() == 0


def test_a_board_of_an_earlier_task_version_says_so_and_asks_for_nothing(
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


def test_what_an_earlier_task_version_computed_stays(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    page()
    compute()
    monkeypatch.setattr(TASKS[TASK], "version", 2)
    assert page().context["line"].difference == 0.25


def test_systems_without_outcomes_are_said_to_have_none(world: World) -> None:
    Run.objects.update(outcomes="", outcomes_sha256="", scorer=custom_scorers.row(world))
    assert "no per-unit outcomes" in text(page())
    assert HeadToHead.objects.count() == 0


def test_a_worker_that_died_is_followed_by_another_and_at_last_by_a_word_on_the_page(world: World) -> None:
    page()
    for attempt in range(1, settings.MAX_ATTEMPTS + 1):
        past = timezone.now() - timedelta(seconds=1)
        HeadToHead.objects.update(state=State.RUNNING, attempt=attempt, lease_until=past)
        head_to_head.WORK.sweep()
    row = HeadToHead.objects.get()
    assert (row.state, row.reason) == (State.FAILED, Reason.LOST)
    assert "could not be computed: the workers stopped in the middle" in text(page())


def test_a_late_worker_changes_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    page()
    original = sandbox_client.side_by_side

    def robbed(**question: Any) -> sandbox_client.Answer:
        HeadToHead.objects.update(attempt=9)
        return original(**question)

    monkeypatch.setattr(sandbox_client, "side_by_side", robbed)
    compute()
    row = HeadToHead.objects.get()
    assert (row.state, row.report, row.attempt) == (State.RUNNING, {}, 9)


def test_a_report_that_no_sound_job_gives_is_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    page()
    original = sandbox_client.side_by_side

    def changed(**question: Any) -> sandbox_client.Answer:
        answer = original(**question)
        answer.report["comparisons"][0]["difference"] = "much"
        return answer

    monkeypatch.setattr(sandbox_client, "side_by_side", changed)
    compute()
    row = HeadToHead.objects.get()
    assert (row.state, row.reason, row.report) == (State.FAILED, Reason.BAD_REPORT, {})


@pytest.mark.parametrize("query", [{"a": "999"}, {"a": "x"}, {"b": "999"}])
@pytest.mark.django_db
def test_a_system_that_is_not_on_the_board_is_a_404(query: dict[str, str]) -> None:
    world = build()
    stand(world, "Bernoulli")
    stand(world, "Carnot")
    assert Client().get(WHERE).status_code == 200
    assert Client().get(WHERE, query).status_code == 404


@pytest.mark.django_db
def test_fewer_than_two_systems_have_nothing_to_compare() -> None:
    world = build()
    stand(world, "Bernoulli")
    assert "A comparison needs two systems on the board" in text(Client().get(WHERE))
    assert "Head to head" not in text(Client().get("/benchmarks/tiny/test/"))
