"""Reported rows whose stored numbers are none: no page fails, they are shown nowhere, and organisers are told.

No way into the site lets such a row through (`printed.check`): it is older than that check, or was written by SQL.
"""

from __future__ import annotations

import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

from leaderboard.archives.actions import manifest_of, tables
from leaderboard.benchmarks.actions import benchmarks
from leaderboard.boards.queries import reported_results
from leaderboard.models import Benchmark, Phase, ReportedResult, User, reported_numbers
from leaderboard.rehearsals import actions
from tests.support.api_calls import person
from tests.support.board_rows import stand
from tests.support.crawler import crawl
from tests.support.tiny_world import World
from tests.support.track_phases import build_with_tracks
from tests.support.two_way_phase import cross, crossed_scores

pytestmark = pytest.mark.django_db
GOOD = {"measure": "accuracy", "slice": {}, "value": 0.86, "shown": "86.0"}
OVERFLOWS = '[{"measure": "accuracy", "slice": {}, "value": 1e999, "shown": "1"}]'
"""JSON has no infinity, but numbers that become one."""
HALF = '[{"measure": "accuracy", "slice": {}, "value": 0.5, "shown": "\\ud800"}]'
"""Half a surrogate pair: no page can be written with it, and PostgreSQL stores none."""
CELLS = {("original", "SUPPORTS"): 0.5, ("generated", "REFUTES"): 0.25}
BAD: dict[str, str] = {
    "a number over all": OVERFLOWS,
    "half a character": HALF,
    "a string": '"58.3"',
    "null within": "[null]",
    "an object": '{"measure": "accuracy"}',
    "a list of lists": '[["accuracy", 0.5]]',
    "a value that is text": '[{"measure": "accuracy", "slice": {}, "value": "58.3", "shown": "58.3"}]',
    "no value": '[{"measure": "accuracy", "slice": {}, "shown": "58.3"}]',
    "null as value": '[{"measure": "accuracy", "slice": {}, "value": null}]',
    "a truth value": '[{"measure": "accuracy", "slice": {}, "value": true, "shown": "58.3"}]',
    "a list as value": '[{"measure": "accuracy", "slice": {}, "value": [0.5], "shown": "58.3"}]',
    "an unknown measure": '[{"measure": "brilliance", "slice": {}, "value": 0.5, "shown": "58.3"}]',
    "a list as measure": '[{"measure": ["accuracy"], "slice": {}, "value": 0.5, "shown": "58.3"}]',
    "a list as slice": '[{"measure": "accuracy", "slice": ["original"], "value": 0.5, "shown": "58.3"}]',
    "a list within a slice": '[{"measure": "accuracy", "slice": {"origin": ["a"]}, "value": 0.5, "shown": "58.3"}]',
    "an object within a slice": '[{"measure": "accuracy", "slice": {"origin": {}}, "value": 0.5, "shown": "58.3"}]',
    "a slice over all": '[{"measure": "accuracy", "slice": {"origin": 1e999}, "value": 0.5, "shown": "58.3"}]',
    "a number as printed": '[{"measure": "accuracy", "slice": {}, "value": 0.5, "shown": 58.3}]',
    "a printed number as long as a book": json.dumps([{**GOOD, "shown": "8" * 5000}]),
    "more digits than can be read": f'[{{"measure": "accuracy", "slice": {{}}, "value": {"9" * 5000}, "shown": "1"}}]',
    "one number twice": json.dumps([GOOD, {**GOOD, "shown": "87.0"}]),
    "one slice twice": json.dumps([{**GOOD, "slice": {"origin": 1}}, {**GOOD, "slice": {"origin": "1"}}]),
    "nothing": "[]",
}


@pytest.fixture(autouse=True)
def _told_again() -> None:
    reported_results._log.cache_clear()


@pytest.fixture
def world() -> World:
    """A board with tracks that crosses two dimensions, and a sound row in each place that shows such."""
    found = build_with_tracks()
    cross(found)
    stand(found, "Verified", crossed_scores(CELLS), track="simple")
    more = {"paper": "A paper", "split": "test", "track": "simple", "by": found.curator}
    slices: list[dict[str, str]] = [{}, {"origin": "original"}, {"origin": "original", "label": "SUPPORTS"}]
    values = [{**GOOD, "slice": slice_} for slice_ in slices]
    benchmarks.add_reported(benchmark=found.benchmark, system="Sound row", values=values, **more)
    return found


def store(world: World, system: str, content: str) -> ReportedResult:
    """A row as SQL writes it."""
    if content == HALF and connection.vendor == "postgresql":
        pytest.skip("PostgreSQL stores no half of a pair")
    row = ReportedResult.objects.create(
        benchmark=world.benchmark, system=system, paper="P", split="test", track="simple", values=[]
    )
    with connection.cursor() as cursor:
        cursor.execute('UPDATE leaderboard_reportedresult SET "values" = %s WHERE id = %s', [content, row.pk])
    return row


def test_no_public_page_or_answer_fails_and_the_rows_are_nowhere(world: World) -> None:
    for name, content in BAD.items():
        if content != HALF or connection.vendor != "postgresql":
            store(world, f"Faulty row: {name}", content)
    starts = ["/", "/api/v1/benchmarks/tiny/", "/benchmarks/tiny/test/cross/origin/label/?view=table"]
    answers = list(crawl(Client(), starts))
    assert [answer.address for answer in answers if answer.status >= 500] == []
    assert [answer.address for answer in answers if b"Faulty row" in answer.text] == []
    shows = {answer.address.partition("?")[0] for answer in answers if b"Sound row" in answer.text}
    board = "/benchmarks/tiny/test/"
    api = "/api/v1/benchmarks/tiny/"
    pages = ["/benchmarks/tiny/", board, f"{board}by/track/", f"{board}progress/", f"{board}by/origin/"]
    assert shows >= {*pages, f"{board}cross/origin/label/", api, f"{api}phases/test/leaderboard/"}


def admit(user: User) -> None:
    """To the admin's pages."""
    User.objects.filter(pk=user.pk).update(is_staff=True, is_superuser=True)


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_each_is_left_out_by_itself(world: World, content: str) -> None:
    row = store(world, "Faulty row", content)
    assert [one.row for one in reported_results.left_out(world.benchmark)] == [row]
    assert [one.system for one in reported_results.reported_of(world.benchmark).rows] == ["Sound row"]


def test_its_organisers_read_what_is_wrong_and_curators_mend_it(world: World) -> None:
    olga = person("olga")
    world.benchmark.organisers.add(olga)
    admit(world.curator)
    row = store(world, "Faulty <b>row</b>", BAD["a value that is text"])
    where, desk = "/manage/benchmarks/tiny/", f"/admin/leaderboard/reportedresult/{row.pk}/change/"
    for user, leads in ((olga, False), (world.curator, True)):
        client = Client()
        client.force_login(user)
        page = client.get(where).content.decode()
        assert "Faulty &lt;b&gt;row&lt;/b&gt;" in page and "Expected `float`, got `str`" in page
        assert (desk in page) == leads and "Sound row" not in page
    client = Client()
    client.force_login(world.curator)
    assert client.get(desk).status_code == 200, "it can be opened to be mended"
    ReportedResult.objects.filter(pk=row.pk).update(values=[GOOD])
    assert "The stored numbers are invalid" not in client.get(where).content.decode()


@pytest.mark.parametrize(
    ("content", "forms"),
    # What cannot be written cannot be written into a form either: such a row is deleted.
    [(OVERFLOWS, ("change", "history", "delete")), ('"58.3"', ("change", "delete")), (HALF, ("delete",))],
)
def test_it_can_be_mended_or_deleted_at_the_admins_pages(world: World, content: str, forms: tuple[str, ...]) -> None:
    row = store(world, "Faulty row", content)
    admit(world.curator)
    client = Client()
    client.force_login(world.curator)
    pages = ["/manage/benchmarks/tiny/", "/admin/leaderboard/reportedresult/"]
    pages += [f"/admin/leaderboard/reportedresult/{row.pk}/{what}/" for what in forms]
    assert {page: client.get(page).status_code for page in pages} == dict.fromkeys(pages, 200)


def test_the_log_tells_it_once_a_process(world: World, caplog: pytest.LogCaptureFixture) -> None:
    row = store(world, "Faulty row", "[null]")
    for _ in range(3):
        assert Client().get("/benchmarks/tiny/test/").status_code == 200
    lines = [record for record in caplog.messages if "reported_row_skipped" in record]
    assert len(lines) == 1 and str(row.pk) in lines[0] and "tiny" in lines[0]


def test_check_boards_names_it() -> None:
    world, out = build_with_tracks(), io.StringIO()
    call_command("check_boards", without_drawings=True, stdout=out)
    assert "reported result" not in out.getvalue()
    row = store(world, "Faulty row", BAD["an unknown measure"])
    with pytest.raises(CommandError, match="reported results that cannot be shown: 1"):
        call_command("check_boards", without_drawings=True, stdout=out)
    assert f"reported result {row.pk} of tiny, Faulty row (P): measure is 'brilliance'" in out.getvalue()


def test_archives_and_rehearsals_leave_it_out(world: World) -> None:
    for number, content in enumerate((OVERFLOWS, "[null]")):
        store(world, f"Faulty {number}", content)
    assert [row.system for row in manifest_of.manifest_of(world.benchmark).reported] == ["Sound row"]
    assert [row.system for row in tables.TABLES[ReportedResult](world.benchmark)] == ["Sound row"]
    Phase.objects.update(opens_at=timezone.now() + timedelta(days=1))
    world.phase.refresh_from_db()
    made = actions.begin(phase=world.phase, testers=[], ends_at=None, by=world.curator)
    assert [row.system for row in made.benchmark.reported_results.all()] == ["Sound row"]


def test_a_row_without_the_printed_text_prints_its_number(world: World) -> None:
    store(world, "Older row", '[{"measure": "accuracy", "value": 0.583}]')
    (told,) = [row for row in reported_results.reported_of(Benchmark.objects.get()).rows if row.system == "Older row"]
    assert dict(told.values) == {("accuracy", ()): (0.583, "0.583")}


@pytest.mark.parametrize("text", ["\ud800", "a\0b"])
@pytest.mark.parametrize("where", ["shown", "slice", "name"])
def test_no_way_in_takes_what_cannot_be_written(text: str, where: str) -> None:
    value: dict[str, Any] = dict(GOOD)
    value |= {"shown": text} if where == "shown" else {"slice": {text: 1} if where == "name" else {"origin": text}}
    given = json.loads(json.dumps([value]))
    with pytest.raises(ValueError, match="a lone surrogate or NUL"):
        reported_numbers.check(given, task="fact-verification")
