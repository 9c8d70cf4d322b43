"""The home page: orders, tasks, and what a card may show of a benchmark's boards."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache.backends.locmem import LocMemCache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.benchmarks.actions import edit
from leaderboard.benchmarks.queries import cards
from leaderboard.boards.queries.main_phase import main_phase, phases_of
from leaderboard.core import response_cache
from leaderboard.models import Benchmark, Leaderboard, Phase, System
from leaderboard.submissions.actions import hide
from tests.support.rows.board_rows import stand, symmetric_scores
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db


world, _django_db_helper = shared_states(world=build)


def another(world: World, slug: str, **phase: object) -> World:
    """A second public benchmark on the same split."""
    benchmark = Benchmark.objects.create(
        slug=slug, title=slug.title(), task=world.benchmark.task, dataset=world.benchmark.dataset, state="public"
    )
    row = Phase.objects.create(benchmark=benchmark, slug="test", title="Test", split=world.split, **phase)
    return replace(world, benchmark=benchmark, phase=row)


def home(query: str = "", client: Client | None = None) -> str:
    response = (client or Client()).get(f"/{query}")
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def card(world: World) -> cards.Card:
    (found,) = cards.cards_of([world.benchmark])
    return found


def test_a_card_shows_leader_score_last_result_teams_and_closing_date(world: World) -> None:
    now = timezone.now()
    Phase.objects.update(closes_at=now + timedelta(days=12, hours=1))
    stand(world, "Second", symmetric_scores(0.6), at=now - timedelta(days=9))
    stand(world, "Majority", symmetric_scores(0.95), at=now - timedelta(days=5), kind="baseline", team="Baselines")
    stand(world, "First", symmetric_scores(0.9), at=now - timedelta(days=3, hours=1), team="Other team")
    page = home()
    assert '<strong dir="auto">First</strong>' in page
    assert "<strong>0.900</strong>" in page and "[0.800, 1.000]" in page and "Accuracy" in page
    assert "3 systems · 2 teams · last result" in page
    assert ">3 days ago</time>" in page and ">in 12 days</time>" in page
    assert "leader-strip" in page
    assert read(page).faults == []


def test_benchmarks_are_sorted_by_last_result_age_or_closing_date(world: World) -> None:
    now = timezone.now()
    later = another(world, "later", closes_at=now + timedelta(days=20))
    sooner = another(world, "sooner", closes_at=now + timedelta(days=2))
    another(world, "closed", closes_at=now - timedelta(days=1))
    stand(world, "A", at=now - timedelta(days=3))
    stand(later, "B", at=now - timedelta(days=1))
    stand(sooner, "C", at=now - timedelta(days=2))
    public = Benchmark.objects.public()
    assert [row.slug for row in cards.listed(public, "active")] == ["later", "sooner", "tiny", "closed"]
    assert [row.slug for row in cards.listed(public, "closing")] == ["sooner", "later", "closed", "tiny"]
    assert [row.slug for row in cards.listed(public, "new")] == ["closed", "sooner", "later", "tiny"]
    page = home("?sort=closing")
    assert page.index(">Sooner<") < page.index(">Later<") < page.index(">Tiny claims<")


def test_chips_count_the_found_benchmarks_of_each_task(world: World) -> None:
    another(world, "other")
    Benchmark.objects.create(slug="draft", title="A draft", task="link-prediction", dataset=world.benchmark.dataset)
    assert 'Fact verification <span class="count">2</span>' in home()
    assert "Link prediction" not in home() and "A draft" not in home()
    assert 'Fact verification <span class="count">1</span>' in home("?search=claims")
    filtered = home("?search=claims&task=fact-verification&sort=new")
    assert '<input type="hidden" name="task" value="fact-verification">' in filtered
    assert '<input type="hidden" name="sort" value="new">' in filtered


def test_a_stranger_s_page_takes_the_same_queries_for_any_number_of_cards(world: World) -> None:
    counts = []
    for count in (1, 6):
        for index in range(count):
            stand(another(world, f"b{count}{index}"), f"System {count} {index}")
        with CaptureQueriesContext(connection) as captured:
            home()
        counts.append(len(captured))
    assert counts[0] == counts[1] <= 10


# --- what a card must not show


def test_a_card_names_anonymous_systems_as_the_public_sees_them(world: World) -> None:
    until = timezone.now() + timedelta(days=3)
    stand(world, "Secret engine", symmetric_scores(0.9), anonymous_until=until, anonymous_number=4)
    stand(world, "Known engine", symmetric_scores(0.8))
    for client in (None, Client()):
        if client:
            client.force_login(world.researcher)
        page = home("", client)
        assert "Anonymous 4" in page and "Secret engine" not in page
    # Both are of one team, which the number of teams must not reveal.
    assert card(world).n_teams == 2
    System.objects.update(anonymous_until=None, anonymous_number=None)
    assert card(world).n_teams == 1


def test_a_ladder_s_score_is_shown_as_a_bound_without_an_interval(world: World) -> None:
    stand(world, "Climber", symmetric_scores(0.5))
    assert "[0.400, 0.600]" in home()
    Phase.objects.update(disclosure="ladder")
    page = home()
    assert "<strong>≥ 0.500</strong>" in page
    assert "[0." not in page


def test_a_sealed_phase_shows_no_result(world: World) -> None:
    now = timezone.now()
    Phase.objects.update(disclosure="sealed", sealed_until=now + timedelta(days=9), closes_at=now + timedelta(days=9))
    world.phase.refresh_from_db()
    world.insert_run(state="done", at=now, finished_at=now, outcomes="o", outcomes_sha256="0" * 64, attempt=1)
    page = home()
    assert "No system on the leaderboard yet." in page
    assert "last result" not in page and "1 system" not in page


def test_a_hidden_submission_leaves_the_card(world: World, sandbox: str) -> None:
    release = stand(world, "Doubtful", symmetric_scores(0.9))
    assert "Doubtful" in home()
    hide.hide(submission=release.submission, reason="copied", by=world.curator)
    page = home()
    assert "Doubtful" not in page and "last result" not in page


def test_a_board_in_preparation_is_not_shown(world: World) -> None:
    stand(world, "First", symmetric_scores(0.9))
    Leaderboard.objects.update(state=Leaderboard.State.PREPARING)
    assert "No system on the leaderboard yet." in home()


# --- the main phase


def phase_of(world: World) -> str:
    found = main_phase(list(phases_of([world.benchmark.pk])))
    return found.slug if found else ""


def test_the_main_phase_is_the_organisers_choice_else_one_with_results(world: World) -> None:
    now = timezone.now()
    Phase.objects.create(benchmark=world.benchmark, slug="final", title="Final", split=world.split, position=1)
    assert phase_of(world) == "final"
    sealed = {"disclosure": "sealed", "closes_at": now + timedelta(days=1), "sealed_until": now + timedelta(days=2)}
    Phase.objects.filter(slug="final").update(**sealed)
    assert phase_of(world) == "test", "the last phase shows nothing before it is unsealed"
    Phase.objects.filter(slug="final").update(disclosure="full", closes_at=None, sealed_until=None)
    stand(world, "First", at=now)
    assert phase_of(world) == "test", "the last phase has no results"
    Phase.objects.filter(slug="final").update(is_main=True)
    assert phase_of(world) == "final"
    Phase.objects.update(is_main=False, opens_at=now + timedelta(days=2))
    Leaderboard.objects.update(state=Leaderboard.State.CANCELLED)
    Phase.objects.filter(slug="test").update(opens_at=now + timedelta(days=1))
    assert phase_of(world) == "test", "no phase has opened: the next to open"


def test_without_results_the_main_phase_takes_submissions(world: World, django_assert_num_queries: Any) -> None:
    now, day = timezone.now(), timedelta(days=1)
    sealed = {"disclosure": "sealed", "closes_at": now + day, "sealed_until": now + 2 * day}
    Phase.objects.create(
        benchmark=world.benchmark, slug="final", title="Final", split=world.split, position=1, **sealed
    )
    Phase.objects.filter(slug="test").update(opens_at=now - 2 * day, closes_at=now - day)
    with django_assert_num_queries(1):
        assert phase_of(world) == "final", "the other phase has closed"
    Phase.objects.filter(slug="final").update(opens_at=now + day / 2)
    assert phase_of(world) == "final", "it opens next"
    Phase.objects.filter(slug="final").update(opens_at=None, closes_at=now - day, sealed_until=now + day)
    assert phase_of(world) == "test", "both have closed, and the last is sealed"


# --- the cached page of strangers


@pytest.fixture
def cached(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CACHES_RESPONSES = True
    cache = LocMemCache("home", {})
    cache.clear()
    monkeypatch.setattr(response_cache, "cache", cache)
    monkeypatch.setattr(response_cache, "_pause", response_cache._Pause())
    # The page is rendered again each minute.
    moment = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: moment)


@pytest.mark.usefixtures("cached")
def test_a_stranger_s_page_is_cached_until_a_board_a_name_or_a_benchmark_changes(world: World, sandbox: str) -> None:
    release = stand(world, "Engine", symmetric_scores(0.9))
    with CaptureQueriesContext(connection) as first:
        home()
    with CaptureQueriesContext(connection) as second:
        assert "Engine" in home()
    assert len(second) == 1 < len(first)
    stand(world, "Better engine", symmetric_scores(0.95))
    assert '<strong dir="auto">Better engine</strong>' in home()
    until = timezone.now() + timedelta(days=1)
    System.objects.filter(name="Better engine").update(anonymous_until=until, anonymous_number=3)
    assert "Better engine" not in home()
    seen = edit.marks(edit.state_of(world.benchmark))
    edit.edit(benchmark=world.benchmark, values={"title": "Renamed claims"}, seen=seen, by=world.curator)
    assert "Renamed claims" in home()
    hide.hide(submission=release.submission, reason="copied", by=world.curator)
    assert "1 system" in home()
    Benchmark.objects.update(state=Benchmark.State.DRAFT)
    assert "Renamed claims" not in home()


@pytest.mark.usefixtures("cached")
def test_the_page_of_a_person_is_neither_cached_nor_shown_to_strangers(world: World) -> None:
    Benchmark.objects.update(state=Benchmark.State.DRAFT)
    client = Client()
    client.force_login(world.curator)
    assert "Tiny claims" in home("", client)
    assert "Tiny claims" not in home()
    assert "Tiny claims" in home("", client)
