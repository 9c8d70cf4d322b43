"""A board's ETag: 304 while nothing changed, in one query and without a session; a new ETag after any change."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.core.cache.backends.locmem import LocMemCache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.boards.web import etag
from leaderboard.comparisons.actions import rank_ranges
from leaderboard.core import response_cache
from leaderboard.datasets.actions import lifecycle
from leaderboard.models import Benchmark, Leaderboard, Phase, ReportedResult, Submission, System
from leaderboard.submissions.actions.hide import hide
from leaderboard.systems.actions import systems
from tests.support.api_calls import ROOT, client_of, error_of
from tests.support.rows.board_rows import score, stand
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
API = f"{ROOT}/benchmarks/tiny/phases/test/leaderboard/"
PAGE = "/benchmarks/tiny/test/"
SLICES = ["/benchmarks/tiny/test/by/origin/", "/benchmarks/tiny/test/two-way/origin/label/?view=table"]
ADDRESSES = [
    *SLICES,
    API,
    f"{API}?sort=-accuracy",
    PAGE,
    f"{PAGE}?kind=participant",
    f"{ROOT}/benchmarks/tiny/phases/test/leaderboard.csv",
    f"{API}?as_of={timezone.now():%Y-%m-%d}",
]


def with_a_system() -> World:
    new_world = build()
    Phase.objects.update(options={"cross": "origin,label"})
    new_world.benchmark.organisers.add(new_world.curator)
    stand(new_world, "First", [score("accuracy", 0.5)])
    return new_world


world, _django_db_helper = shared_states(world=with_a_system)


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_cached_page_takes_one_query_and_no_session(world: World, address: str) -> None:
    answer = Client().get(address)
    client = Client()
    with CaptureQueriesContext(connection) as queries:
        revalidated = client.get(address, headers={"If-None-Match": answer["ETag"]})
    assert (revalidated.status_code, revalidated.content, revalidated["ETag"]) == (304, b"", answer["ETag"])
    assert len(queries) == 1 and not client.cookies
    assert {"Cookie", "Authorization"} <= set(revalidated["Vary"].split(", "))
    assert revalidated["Cache-Control"] == answer["Cache-Control"]
    with CaptureQueriesContext(connection) as queries:
        assert Client().get(address, headers={"If-None-Match": '"another"'}).status_code == 200
    assert 1 < len(queries) <= 11


def a_system() -> System:
    return System.objects.get(name="First")


CHANGES: dict[str, Callable[[World], object]] = {
    "a run": lambda world: stand(world, "Next", [score("accuracy", 0.7)]),
    "a worse run": lambda world: stand(world, "Next", [score("accuracy", 0.1)]),
    "a description": lambda world: systems.describe(
        system=a_system(), by=world.researcher, bibtex="", anonymous_until=None, description="Better."
    ),
    "a name that is hidden": lambda world: systems.describe(
        system=a_system(), by=world.researcher, bibtex="", anonymous_until=timezone.now() + timedelta(days=1)
    ),
    "a disqualification": lambda world: systems.disqualify(
        phase=world.phase, system=a_system(), reason="copied", by=world.curator
    ),
    "a hidden submission": lambda world: hide(submission=Submission.objects.get(), reason="leaked", by=world.curator),
    "ranges that are due": lambda _: rank_ranges.invalidate(Leaderboard.objects.get()),
    "a phase's title": lambda _: Phase.objects.update(title="Final"),
    "a phase that closed": lambda _: Phase.objects.update(closes_at=timezone.now() - timedelta(seconds=1)),
    "another phase": lambda world: Phase.objects.create(
        benchmark=world.benchmark, split=world.split, slug="next", title="Next", quota_per_day=1, quota_total=1
    ),
    "a benchmark's title": lambda _: Benchmark.objects.update(title="Others"),
    "a benchmark's summary": lambda _: Benchmark.objects.update(summary="Another."),
    "a retired split": lambda world: lifecycle.retire(split=world.split, reason="leaked", by=world.curator),
    "a reported row": lambda world: ReportedResult.objects.create(
        benchmark=world.benchmark, system="x", paper="p", split="s", values=[]
    ),
    "an edit in the admin": lambda world: LogEntry.objects.create(
        user=world.curator, object_id="1", object_repr="x", action_flag=2
    ),
    "other code": lambda _: etag._code_digest.cache_clear(),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_visible_change_gives_another_etag(world: World, change: str, monkeypatch: pytest.MonkeyPatch) -> None:
    etags = {address: Client().get(address)["ETag"] for address in (API, PAGE, *SLICES)}
    assert etag.tag_of("tiny", "test", address=API) == etags[API]
    CHANGES[change](world)
    if change == "other code":
        monkeypatch.setattr(etag, "_code_digest", lambda: "other")
    for address, tag in etags.items():
        answer = Client().get(address, headers={"If-None-Match": tag})
        assert answer.status_code == 200 and answer["ETag"] != tag


def test_a_name_revealed_by_its_date_gives_another_etag(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden_until = timezone.now() + timedelta(hours=1)
    System.objects.filter(name="First").update(anonymous_until=hidden_until, anonymous_number=1)
    before = etag.tag_of("tiny", "test", address=PAGE)
    assert before == etag.tag_of("tiny", "test", address=PAGE)
    monkeypatch.setattr(etag.timezone, "now", lambda: hidden_until + timedelta(seconds=1))
    assert etag.tag_of("tiny", "test", address=PAGE) != before


def test_readers_with_more_rights_get_no_shared_etag(world: World) -> None:
    System.objects.filter(name="First").update(anonymous_until=timezone.now() + timedelta(days=1), anonymous_number=1)
    common = Client().get(API)
    assert "First" not in common.content.decode()
    for client in (client_of(world.curator), client_of(world.researcher)):
        answer = client.get(API, headers={"If-None-Match": common["ETag"]})
        assert answer.status_code == 200 and answer["ETag"] != common["ETag"]
        assert "First" in answer.content.decode()
    browser = Client()
    browser.force_login(world.curator)
    page = browser.get(PAGE, headers={"If-None-Match": Client().get(PAGE)["ETag"]})
    assert page.status_code == 200 and "First" in page.content.decode()


def test_a_draft_and_a_missing_board_have_no_etag(world: World) -> None:
    held_etag = Client().get(API)["ETag"]
    Benchmark.objects.update(state="draft")
    hidden = Client().get(API, headers={"If-None-Match": held_etag})
    absent = Client().get(f"{ROOT}/benchmarks/none/phases/test/leaderboard/", headers={"If-None-Match": held_etag})
    assert hidden.status_code == absent.status_code == 404 and error_of(hidden) == error_of(absent)
    assert etag.tag_of("tiny", "test", address=PAGE) is None


def test_a_preparing_board_shows_its_progress(world: World) -> None:
    """The progress changes while the boards do not."""
    gold = world.gold
    gold.pk, gold.number, gold.sha256 = None, 2, "1" * 64
    gold.save(force_insert=True)
    Leaderboard.objects.create(phase=world.phase, gold_version=gold, task_version=1, state="preparing")
    assert etag.tag_of("tiny", "test", address=PAGE) is None


@pytest.fixture
def caching(settings: object, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.CACHES_RESPONSES = True  # type: ignore[attr-defined]
    cache = LocMemCache("boards", {})
    cache.clear()
    monkeypatch.setattr(response_cache, "cache", cache)


def test_cached_answers_equal_fresh_ones(world: World, request: pytest.FixtureRequest) -> None:
    fresh = {address: Client().get(address).content for address in ADDRESSES}
    request.getfixturevalue("caching")
    for _ in range(2):
        cached = {address: Client().get(address) for address in ADDRESSES}
        assert {address: answer.content for address, answer in cached.items()} == fresh
    with CaptureQueriesContext(connection) as queries:
        third = Client().get(API)
    assert len(queries) == 1 and third["Content-Type"] == "application/json" and third.content == fresh[API]
    stand(world, "Next", [score("accuracy", 0.7)])
    assert b"Next" in Client().get(API).content
    assert b"Next" in Client().get(PAGE).content


def test_rows_are_counted_once_for_each_state_of_the_board(world: World, caching: None) -> None:
    """Responses to users with a session or token are not cached; what all of them count is."""
    client = client_of(world.researcher)

    def asked() -> tuple[int, bytes]:
        with CaptureQueriesContext(connection) as queries:
            content = client.get(API).content
        return len(queries), content

    client.get(ROOT + "/benchmarks/")  # notes the day on which the token was used
    (n, first), again = asked(), asked()
    assert again == (n - 1, first)
    stand(world, "Next", [score("accuracy", 0.7)])
    assert b"Next" in asked()[1]
    System.objects.filter(name="Next").update(description="Edited.")
    CHANGES["an edit in the admin"](world)
    n_again, content = asked()
    assert n_again == n and b"Edited." in content


def test_members_and_staff_neither_fill_nor_read_the_shared_cache(world: World, caching: None) -> None:
    System.objects.filter(name="First").update(anonymous_until=timezone.now() + timedelta(days=1), anonymous_number=1)
    member = Client()
    member.force_login(world.researcher)
    for _ in range(2):
        assert b"First" in member.get(PAGE).content and b"First" in client_of(world.curator).get(API).content
        assert b"First" not in Client().get(PAGE).content and b"First" not in Client().get(API).content


def test_a_hidden_submission_leaves_the_cached_board_at_once(world: World, caching: None) -> None:
    assert all(b"First" in Client().get(address).content for address in (API, PAGE))
    hide(submission=Submission.objects.get(), reason="leaked", by=world.curator)
    assert not any(b"First" in Client().get(address).content for address in (API, PAGE))


@pytest.mark.parametrize("other", [f"{API}?sort=zzz", f"{API}?gold_version=9&task_version=9", f"{PAGE}gold-9/task-9/"])
def test_the_etag_of_one_address_is_invalid_for_another(world: World, other: str) -> None:
    """The other address may not even exist."""
    etag = Client().get(API if other.startswith(API) else PAGE)["ETag"]
    assert Client().get(other, headers={"If-None-Match": etag}).status_code in (400, 404)


@pytest.mark.parametrize("part", ["comparisons/", "plots/"])
def test_answers_of_serializers_are_cached_too(world: World, caching: None, part: str) -> None:
    first, second = (Client().get(f"{API}{part}") for _ in range(2))
    assert first.status_code == second.status_code == 200
    assert first.json() == second.json() and second["Content-Type"] == "application/json"
