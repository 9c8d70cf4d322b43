"""Corrections of published gold as everybody reads them: on pages, in the feed and in the API."""

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
from tests.support.rows.corrected_gold import CORRECTED, correct, score_all, two_systems
from tests.support.rows.tiny_world import DRAFT, World, gold_lines, uploaded

pytestmark = pytest.mark.django_db(transaction=True)
REASON = "labels of <b>batch 3</b> were swapped"
ATOM = {"a": "http://www.w3.org/2005/Atom"}
PAGES = ("/benchmarks/tiny/about/data/", "/benchmarks/tiny/splits/test/")


@pytest.fixture
def world(transactional_db: None, sandbox: str, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(enqueue, "_send", lambda *_: None)
    return two_systems()


def confirmed_correction(world: World, *, content: bytes | None = None, publishes_count: bool = False) -> GoldVersion:
    file = uploaded(content or gold_lines(CORRECTED))
    correction = corrections.propose(split=world.split, file=file, by=world.curator)
    file.close()
    gold_diffs.WORK.run(correction.pk)
    correction.refresh_from_db()
    return corrections.confirm(correction=correction, reason=REASON, publishes_count=publishes_count, by=world.curator)


def table(url: str) -> str:
    """The text of the errata section of a page, without markup. Empty if there is no such section."""
    page = Client().get(url).content.decode()
    _, heading, section = page.partition('<h2 id="errata">')
    return re.sub(r"(<[^>]+>|\s)+", " ", section.partition("</section>")[0]) if heading else ""


def api() -> list[dict[str, Any]]:
    errata: list[dict[str, Any]] = Client().get("/api/v1/benchmarks/tiny/").json()["errata"]
    return errata


def entries() -> list[tuple[str, str, str]]:
    """Returns (id, title, summary) of each erratum in the feed."""
    feed = ElementTree.fromstring(Client().get("/benchmarks/tiny/feed.atom").content)
    found = [
        tuple(entry.findtext(f"a:{name}", "", ATOM) for name in ("id", "title", "summary"))
        for entry in feed.findall("a:entry", ATOM)
    ]
    return [erratum for erratum in found if erratum[1].startswith("Gold of")]  # type: ignore[misc]


def test_uncorrected_gold_has_no_errata(world: World) -> None:
    assert table(PAGES[0]) == "" and "has not been corrected" in table(PAGES[1])
    assert api() == [] and entries() == []


def test_an_erratum_from_confirmation_to_the_switch(world: World) -> None:
    gold = confirmed_correction(world)
    for url in PAGES:
        errata = table(url)
        assert "version 2" in errata and "&lt;b&gt;batch 3&lt;/b&gt;" in errata
        assert "not published" in errata and "being scored again" in errata and "none" in errata
    first = entries()
    score_all()
    for url in PAGES:
        assert "in force" in table(url) and "Test , gold version 1" in table(url)
    (errata,) = api()
    assert errata == {
        "split": "test",
        "gold_version": 2,
        "corrected_at": gold.created_at.isoformat().replace("+00:00", "Z"),
        "reason": REASON,
        "n_changed": None,
        "state": "in force",
        "replaced": [{"phase": "test", "gold_version": 1, "task_version": 1}],
    }
    (entry,) = entries()
    assert entry[1:] == ("Gold of test corrected: version 2", f"{REASON} (in force)")
    assert [entry[0]] == [first_entry[0] for first_entry in first], "it keeps its id"
    assert Client().get("/benchmarks/tiny/test/gold-1/task-1/").status_code == 200


def test_the_count_is_shown_where_organisers_publish_it(world: World) -> None:
    confirmed_correction(world, publishes_count=True)
    assert api()[0]["n_changed"] == 4 and " 4 items." in entries()[0][2]
    assert "not published" not in table(PAGES[0])


def test_items_that_differ_only_in_formatting_do_not_count(world: World) -> None:
    confirmed_correction(
        world, content=gold_lines().replace(b'"claim"', b'"remark": "seen twice", "claim"'), publishes_count=True
    )
    assert api()[0]["n_changed"] == 0


def test_the_count_is_shown_where_the_gold_is_public(world: World) -> None:
    confirmed_correction(world)
    assert api()[0]["n_changed"] is None
    Split.objects.update(gold_public=True)
    assert api()[0]["n_changed"] == 4


def test_a_cancelled_correction_is_marked_as_cancelled(world: World) -> None:
    confirmed_correction(world)
    rescoring.cancel(phase=world.phase, by=world.curator)
    assert api()[0]["state"] == "set aside" and "set aside" in table(PAGES[0])
    assert api()[0]["replaced"] == []


def test_the_latest_erratum_is_first_and_each_names_its_boards(world: World) -> None:
    confirmed_correction(world)
    score_all()
    correct(world, gold_lines().replace(b"\n", b"\r\n"), reason="back again")
    score_all()
    errata = [
        (erratum["gold_version"], erratum["replaced"][0]["gold_version"], erratum["n_changed"]) for erratum in api()
    ]
    assert errata == [(3, 2, None), (2, 1, None)]


def test_replacing_gold_of_a_draft_is_no_erratum(world: World) -> None:
    confirmed_correction(world)
    Split.objects.update(**DRAFT)
    assert api() == [] and table(PAGES[0]) == "" and entries() == []
    Split.objects.update(state="published", published_at=timezone.now())
    assert api() == [] and table(PAGES[0]) == "" and entries() == [], "that was before it was published"
