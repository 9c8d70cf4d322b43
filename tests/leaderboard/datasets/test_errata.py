"""Corrections of published gold, as everybody reads them: on pages, in the feed and the API."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.datasets.actions import corrections, gold_diffs
from leaderboard.models import GoldVersion, Split
from leaderboard.scoring.actions import rescoring
from leaderboard.work_queue import enqueue
from tests.support.corrected_gold import CORRECTED, correct, score_all, two_systems
from tests.support.tiny_world import DRAFT, World, gold_lines, uploaded

pytestmark = pytest.mark.django_db(transaction=True)
WHY = "labels of <b>batch 3</b> were swapped"
ATOM = {"a": "http://www.w3.org/2005/Atom"}
PAGES = ("/benchmarks/tiny/", "/benchmarks/tiny/splits/test/")


@pytest.fixture
def world(transactional_db: None, sandbox: str, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(enqueue, "_send", lambda *_: None)
    return two_systems()


def confirmed(world: World, *, content: bytes | None = None, publishes_count: bool = False) -> GoldVersion:
    file = uploaded(content or gold_lines(CORRECTED))
    found = corrections.propose(split=world.split, file=file, by=world.curator)
    file.close()
    gold_diffs.WORK.run(found.pk)
    found.refresh_from_db()
    return corrections.confirm(correction=found, reason=WHY, publishes_count=publishes_count, by=world.curator)


def table(where: str) -> str:
    """The errata of a page as anybody reads them, without markup; empty: there are none."""
    page = Client().get(where).content.decode()
    _, found, rest = page.partition('<h2 id="errata">')
    return re.sub(r"(<[^>]+>|\s)+", " ", rest.partition("</section>")[0]) if found else ""


def api() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = Client().get("/api/v1/benchmarks/tiny/").json()["errata"]
    return found


def entries() -> list[tuple[str, str, str]]:
    """(id, title, summary) of the feed's errata."""
    feed = ElementTree.fromstring(Client().get("/benchmarks/tiny/feed.atom").content)
    told = [
        tuple(entry.findtext(f"a:{name}", "", ATOM) for name in ("id", "title", "summary"))
        for entry in feed.findall("a:entry", ATOM)
    ]
    return [one for one in told if one[1].startswith("Gold of")]  # type: ignore[misc]


def test_gold_that_was_never_corrected_has_none(world: World) -> None:
    assert table(PAGES[0]) == "" and "has not been corrected" in table(PAGES[1])
    assert api() == [] and entries() == []


def test_from_the_confirming_to_the_switch(world: World) -> None:
    gold = confirmed(world)
    for where in PAGES:
        told = table(where)
        assert "version 2" in told and "&lt;b&gt;batch 3&lt;/b&gt;" in told
        assert "not published" in told and "being scored again" in told and "none" in told
    first = entries()
    score_all()
    for where in PAGES:
        assert "in force" in table(where) and "Test , gold 1" in table(where)
    (told,) = api()
    assert told == {
        "split": "test",
        "gold_version": 2,
        "corrected_at": gold.created_at.isoformat().replace("+00:00", "Z"),
        "reason": WHY,
        "n_changed": None,
        "state": "in force",
        "replaced": [{"phase": "test", "gold_version": 1, "task_version": 1}],
    }
    (entry,) = entries()
    assert entry[1:] == ("Gold of test corrected: version 2", f"{WHY} (in force)")
    assert [entry[0]] == [one[0] for one in first], "it keeps its id"
    assert Client().get("/benchmarks/tiny/test/gold-1/task-1/").status_code == 200


def test_the_count_is_told_where_the_organisers_tell_it(world: World) -> None:
    confirmed(world, publishes_count=True)
    assert api()[0]["n_changed"] == 4 and " 4 items." in entries()[0][2]
    assert "not published" not in table(PAGES[0])


def test_items_that_are_merely_written_otherwise_do_not_count(world: World) -> None:
    confirmed(world, content=gold_lines().replace(b'"claim"', b'"remark": "seen twice", "claim"'), publishes_count=True)
    assert api()[0]["n_changed"] == 0


def test_the_count_is_told_where_everybody_can_count(world: World) -> None:
    confirmed(world)
    assert api()[0]["n_changed"] is None
    Split.objects.update(gold_public=True)
    assert api()[0]["n_changed"] == 4


def test_a_correction_that_was_cancelled_says_so(world: World) -> None:
    confirmed(world)
    rescoring.cancel(phase=world.phase, by=world.curator)
    assert api()[0]["state"] == "set aside" and "set aside" in table(PAGES[0])
    assert api()[0]["replaced"] == []


def test_the_latest_stands_first_and_each_names_its_own_boards(world: World) -> None:
    confirmed(world)
    score_all()
    correct(world, gold_lines().replace(b"\n", b"\r\n"), reason="back again")
    score_all()
    told = [(one["gold_version"], one["replaced"][0]["gold_version"], one["n_changed"]) for one in api()]
    assert told == [(3, 2, None), (2, 1, None)]


def test_what_was_replaced_in_a_draft_is_no_erratum(world: World) -> None:
    confirmed(world)
    Split.objects.update(**DRAFT)
    assert api() == [] and table(PAGES[0]) == "" and entries() == []
    Split.objects.update(state="published", published_at=timezone.now())
    assert api() == [] and table(PAGES[0]) == "" and entries() == [], "that was before it was published"
