"""Citation page, badges, embedded boards and feeds: all show what an anonymous visitor may see."""

from __future__ import annotations

import hashlib
import re
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.etree import ElementTree

import pytest
from django.conf import settings
from django.test import Client

from leaderboard.models import Benchmark, Leaderboard, System
from tests.support.rows.board_rows import score, stand, symmetric_scores
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build
from tests.support.strict_html import read

pytestmark = pytest.mark.django_db
BOARD = "/benchmarks/tiny/test/"
FROZEN = f"{BOARD}gold-1/task-1/"
FEEDS = ("/feed.atom", "/benchmarks/tiny/feed.atom")
AT = datetime(2026, 3, 4, 5, 6, tzinfo=UTC)
HOSTILE = '<script>alert("1")</script>&'
ATOM = "{http://www.w3.org/2005/Atom}"
SVG = "{http://www.w3.org/2000/svg}"


def populate() -> World:
    world = build()
    stand(world, "First", symmetric_scores(0.75), at=AT)
    stand(world, HOSTILE, symmetric_scores(0.5), at=AT + timedelta(days=1))
    return world


world, _django_db_helper = shared_states(world=populate)


def fetch(address: str, status: int = 200, client: Client | None = None, **query: str) -> Any:
    answer = (client or Client()).get(address, query)
    assert answer.status_code == status, address
    return answer


def text(address: str, **query: str) -> str:
    return fetch(address, **query).content.decode()


# --- citations


@pytest.mark.parametrize("address", [f"{BOARD}cite/", f"{FROZEN}cite/"])
def test_the_page_names_versions_date_and_digest(world: World, address: str) -> None:
    markup = text(address)
    digest = hashlib.sha256(fetch("/api/v1/benchmarks/tiny/phases/test/leaderboard.json").content).hexdigest()
    assert markup.count(digest) == 3
    assert f'href="{settings.BASE_URL}{FROZEN}"' in markup
    assert "2026-03-05 05:06 UTC" in markup
    assert read(markup).faults == []
    assert "<script>alert" not in markup


@pytest.mark.parametrize("address", [f"{BOARD}cite/", f"{FROZEN}cite/"])
def test_the_page_links_to_the_board_as_of_its_latest_result(world: World, address: str) -> None:
    Leaderboard.objects.update(shown_from=AT)
    as_of_address = f"{FROZEN}?as_of=2026-03-05"
    assert f'href="{settings.BASE_URL}{as_of_address}"' in text(address)
    before = text(as_of_address)
    assert "As of <time" in before and "First" in before
    stand(world, "Later", symmetric_scores(0.9), at=AT + timedelta(days=2))
    assert "Later" not in text(as_of_address) and "Later" in text(FROZEN)


def test_a_corrected_gold_makes_another_board_and_the_cited_one_stays(world: World) -> None:
    cited = text(f"{FROZEN}cite/")
    Leaderboard.objects.update(state=Leaderboard.State.FROZEN)
    assert "nothing to cite" in text(f"{BOARD}cite/")
    frozen = text(f"{FROZEN}cite/")
    entry = re.compile(r"@misc.*?</pre>", re.DOTALL)
    assert entry.findall(frozen) == entry.findall(cited) != []
    assert "leaderboard.tex?gold_version=1&amp;task_version=1" in frozen
    assert f"{FROZEN}badge.svg?" in frozen


def test_every_reader_cites_the_same_bytes(world: World) -> None:
    """A reader who may know the name of an anonymous system sees it on the board, but cites what the public reads."""
    System.objects.filter(name="First").update(anonymous_until=AT + timedelta(days=365_000), anonymous_number=7)
    curator = Client()
    curator.force_login(world.curator)
    for address in (f"{BOARD}cite/", "/api/v1/benchmarks/tiny/phases/test/leaderboard.json"):
        pages = [fetch(address, client=client).content for client in (Client(), curator)]
        digests = [re.findall(rb"[0-9a-f]{64}", page) for page in pages]
        assert digests[0] == digests[1]
        assert not any(b"First" in page for page in pages)


def test_every_board_links_to_its_citation(world: World) -> None:
    assert f'href="{BOARD}cite/"' in text(BOARD)
    Leaderboard.objects.update(state=Leaderboard.State.FROZEN)
    assert f'href="{FROZEN}cite/"' in text(FROZEN)


def test_every_linked_file_exists(world: World) -> None:
    offered = [link for link in re.findall(r'href="([^"]+)"', text(f"{BOARD}cite/")) if "/leaderboard." in link]
    assert len(offered) == 8
    for link in offered:
        fetch(link.replace("&amp;", "&"))


# --- badges


def badge(status: int = 200, address: str = f"{BOARD}badge.svg", **query: str) -> Any:
    return fetch(address, status, **query)


def texts_of(answer: Any) -> tuple[str, list[str]]:
    """(title, texts) of a well-formed picture whose texts fit into it."""
    root = ElementTree.fromstring(answer.content)
    texts = root.findall(f".//{SVG}text")
    right_ends = [float(text.get("x", "")) + float(text.get("textLength", "")) for text in texts]
    assert all(float(text.get("textLength", "")) > 0 for text in texts)
    assert right_ends[0] < float(texts[1].get("x", "")) and right_ends[1] < float(root.get("width", ""))
    assert root.get("role") == "img" and root.get("aria-labelledby") == root.findall(f"{SVG}title")[0].get("id")
    return root.findtext(f"{SVG}title") or "", [text.text or "" for text in texts]


def test_a_badge_shows_rank_and_value(world: World) -> None:
    title, texts = texts_of(badge(system="First", team="Analytical Engines"))
    assert texts == ["Tiny claims", "rank 1 of 2 · Accuracy 0.750"]
    assert title == "First on Tiny claims, Test: rank 1 of 2, Accuracy 0.750"
    assert texts_of(badge(system="First", measure="group_accuracy"))[1][1] == "rank 1 of 2 · Group accuracy 0.250"
    assert texts_of(badge(address=f"{FROZEN}badge.svg", system="First"))[1] == texts


def test_a_badge_is_of_exactly_one_system(world: World) -> None:
    """If two teams' systems have one name, neither gets a badge by that name, not even a rank."""
    stand(world, "First", symmetric_scores(0.25), team="Compilers")
    answer = badge(404, system="First")
    assert answer["Content-Type"].startswith("text/plain") and b"team=" in answer.content
    assert texts_of(badge(system="First", team="Compilers"))[1][1] == "rank 3 of 3 · Accuracy 0.250"


def test_a_badge_fits_any_name(world: World) -> None:
    Benchmark.objects.update(title="長い名前の" * 30 + HOSTILE)
    title, (left, _) = texts_of(badge(system=HOSTILE))
    assert title.startswith(HOSTILE) and len(left) == 40


@pytest.mark.parametrize(
    "query", [{}, {"system": "Nobody"}, {"system": "First", "team": "Others"}, {"system": "First", "measure": "x"}]
)
def test_a_system_that_is_not_on_the_board_has_no_badge(world: World, query: dict[str, str]) -> None:
    badge(404, **query)


# --- embedding


def test_only_a_board_may_be_embedded(world: World) -> None:
    for address in (f"{BOARD}embed/", f"{FROZEN}embed/"):
        answer = fetch(address)
        assert "X-Frame-Options" not in answer
        policy = answer["Content-Security-Policy"]
        assert "frame-ancestors *" in policy and "script-src 'none'" in policy and "form-action 'none'" in policy
        markup = answer.content.decode()
        assert read(markup).faults == []
        assert not re.search(r"<(form|input|button|script|nav)\b", markup)
        assert "0.750</span>" in markup and "&lt;script&gt;" in markup
    for address in (BOARD, f"{BOARD}cite/", "/", "/accounts/login/"):
        answer = fetch(address)
        assert answer["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]


def test_an_embedded_board_shows_what_its_query_requests(world: World) -> None:
    markup = text(f"{BOARD}embed/", rows="1", measure="group_accuracy,symmetric_gap,nonsense")
    assert "First" in markup and "alert" not in markup and "1 more on" in markup
    assert markup.count('<th scope="col" class="num">') == 2
    for rows in ("0", "-1", "x", "9999", "²"):
        assert "alert" in text(f"{BOARD}embed/", rows=rows)


# --- feeds


def entries(address: str) -> list[ElementTree.Element]:
    root = ElementTree.fromstring(fetch(address).content)
    assert root.findtext(f"{ATOM}updated")
    return root.findall(f"{ATOM}entry")


@pytest.mark.parametrize("address", FEEDS)
def test_a_feed_lists_results_of_boards_latest_first(world: World, address: str) -> None:
    newest, first = entries(address)
    assert newest.findtext(f"{ATOM}title") == f"{HOSTILE}: accuracy 0.500, rank 2 · Tiny claims, Test"
    assert first.findtext(f"{ATOM}updated") == "2026-03-04T05:06:00+00:00"
    link = first.find(f"{ATOM}link")
    assert link is not None and link.get("href") == f"{settings.BASE_URL}{BOARD}"


@pytest.mark.parametrize("address", FEEDS)
def test_markup_in_names_is_escaped_in_feeds(world: World, address: str) -> None:
    """A text construct without a type is plain text (RFC 4287, 3.1.1)."""
    text_constructs = [
        part for entry in entries(address) for part in entry if part.tag in (f"{ATOM}title", f"{ATOM}summary")
    ]
    assert len(text_constructs) == 4 and {part.get("type", "text") for part in text_constructs} == {"text"}
    assert sum(HOSTILE in (part.text or "") for part in text_constructs) == 2


@pytest.mark.parametrize("address", FEEDS)
def test_a_result_on_no_board_is_in_no_feed(world: World, address: str) -> None:
    """A worse submission of the same system is released, but does not represent it."""
    before = [entry.findtext(f"{ATOM}id") for entry in entries(address)]
    stand(world, "First", symmetric_scores(0.1))
    assert [entry.findtext(f"{ATOM}id") for entry in entries(address)] == before
    assert "0.100" not in text(address)
    stand(world, "First", symmetric_scores(0.9))
    assert "accuracy 0.900, rank 1" in (entries(address)[0].findtext(f"{ATOM}title") or "")


@pytest.mark.parametrize("address", FEEDS)
def test_a_result_on_an_earlier_board_is_listed_once(world: World, address: str) -> None:
    board = Leaderboard.objects.get()
    earlier = Leaderboard.objects.create(
        phase=board.phase, gold_version=board.gold_version, task_version=7, state=Leaderboard.State.FROZEN
    )
    for standing in board.standings.all():
        standing.pk, standing.leaderboard = None, earlier
        standing.save()
    assert len(entries(address)) == 2


def test_an_empty_feed_stays_identical(world: World) -> None:
    Leaderboard.objects.update(state=Leaderboard.State.PREPARING)
    assert entries(FEEDS[0]) == []
    etag = fetch(FEEDS[0])["ETag"]
    assert fetch(FEEDS[0])["ETag"] == etag


# --- visibility


SHARED = (f"{BOARD}badge.svg", f"{BOARD}embed/", f"{FROZEN}badge.svg", f"{FROZEN}embed/", *FEEDS)


@pytest.mark.parametrize("address", SHARED)
def test_shared_pages_do_not_depend_on_a_session(world: World, address: str) -> None:
    curator = Client()
    curator.force_login(world.curator)
    answers = [fetch(address, client=client, system="First") for client in (Client(), curator)]
    assert answers[0].content == answers[1].content
    for answer in answers:
        assert not answer.cookies and "Cookie" not in answer.get("Vary", "")
        assert "public" in answer["Cache-Control"]
        revalidated = Client().get(address, {"system": "First"}, headers={"If-None-Match": answer["ETag"]})
        assert (revalidated.status_code, revalidated.content) == (304, b"")


@pytest.mark.parametrize("address", SHARED)
@pytest.mark.parametrize("change", ["draft", "preparing"])
def test_hidden_content_is_shown_nowhere(world: World, address: str, change: str) -> None:
    if change == "draft":
        Benchmark.objects.update(state="draft")
    else:
        Leaderboard.objects.update(state=Leaderboard.State.PREPARING)
    curator = Client()
    curator.force_login(world.curator)
    answer = curator.get(address, {"system": "First"})
    assert b"First" not in answer.content
    if change == "draft" and address != "/feed.atom":
        assert answer.status_code == 404 and "ETag" not in answer


@pytest.mark.parametrize("suffix", ["tex", "md"])
def test_no_interval_appears_where_none_was_revealed(suffix: str) -> None:
    """A ladder shows values only."""
    stand(build(), "Alone", [{**score("accuracy", 0.75), "low": None, "high": None}], at=AT)
    table = text(f"/api/v1/benchmarks/tiny/phases/test/leaderboard.{suffix}", measure="accuracy")
    assert "0.750" in table and "interval" not in table
    (line,) = (line for line in table.splitlines() if "Alone" in line)
    assert "[" not in line
