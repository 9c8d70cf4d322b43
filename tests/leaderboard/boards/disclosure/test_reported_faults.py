"""Reported rows with invalid stored numbers: no page fails, they are shown nowhere, and organisers are notified.

The site's validation rejects such rows (`printed.check`); they are older than that check, or were written with SQL.
"""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from leaderboard.archives.actions import manifest_of, tables
from leaderboard.benchmarks.actions import benchmarks
from leaderboard.boards.queries import reported_results
from leaderboard.models import ReportedResult, User, reported_numbers
from tests.support.api_calls import person
from tests.support.crawler import crawl
from tests.support.rows.board_rows import stand
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World
from tests.support.rows.track_phases import build_with_tracks
from tests.support.rows.two_way_phase import cross, crossed_scores

pytestmark = pytest.mark.django_db
GOOD = {"measure": "accuracy", "slice": {}, "value": 0.86, "shown": "86.0"}
OVERFLOWS = '[{"measure": "accuracy", "slice": {}, "value": 1e999, "shown": "1"}]'
"""JSON has no infinity, but has numbers that overflow to it."""
HALF = '[{"measure": "accuracy", "slice": {}, "value": 0.5, "shown": "\\ud800"}]'
"""Half a surrogate pair: no page can be encoded with it, and PostgreSQL does not store it."""
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
def _reset_logging() -> None:
    reported_results._log.cache_clear()


def with_reported_rows() -> World:
    """A board with tracks that crosses two dimensions, with a valid reported row in each place that shows such rows."""
    new_world = build_with_tracks()
    cross(new_world)
    stand(new_world, "Verified", crossed_scores(CELLS), track="simple")
    fields = {"paper": "A paper", "split": "test", "track": "simple"}
    slices: list[dict[str, str]] = [{}, {"origin": "original"}, {"origin": "original", "label": "SUPPORTS"}]
    values = [{**GOOD, "slice": slice_} for slice_ in slices]
    row = ReportedResult(benchmark=new_world.benchmark, system="Sound row", values=values, **fields)
    benchmarks.add_reported(row=row, by=new_world.curator)
    return new_world


world, _django_db_helper = shared_states(world=with_reported_rows)


def store(world: World, system: str, content: str) -> ReportedResult:
    """Inserts a row with SQL."""
    if content == HALF and connection.vendor == "postgresql":
        pytest.skip("PostgreSQL stores no half of a pair")
    row = ReportedResult.objects.create(
        benchmark=world.benchmark, system=system, paper="P", split="test", track="simple", values=[]
    )
    with connection.cursor() as cursor:
        cursor.execute('UPDATE leaderboard_reportedresult SET "values" = %s WHERE id = %s', [content, row.pk])
    return row


def test_no_public_page_fails_and_the_rows_are_shown_nowhere(world: World) -> None:
    for name, content in BAD.items():
        if content != HALF or connection.vendor != "postgresql":
            store(world, f"Faulty row: {name}", content)
    starts = ["/", "/api/v1/benchmarks/tiny/", "/benchmarks/tiny/test/two-way/origin/label/?view=table"]
    answers = list(crawl(Client(), starts))
    assert [answer.address for answer in answers if answer.status >= 500] == []
    assert [answer.address for answer in answers if b"Faulty row" in answer.text] == []
    pages_with_valid_row = {answer.address.partition("?")[0] for answer in answers if b"Sound row" in answer.text}
    board = "/benchmarks/tiny/test/"
    api = "/api/v1/benchmarks/tiny/"
    pages = ["/benchmarks/tiny/", board, f"{board}by/track/", f"{board}progress/", f"{board}by/origin/"]
    assert pages_with_valid_row >= {*pages, f"{board}two-way/origin/label/", api, f"{api}phases/test/leaderboard/"}


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_each_invalid_row_is_left_out_by_itself(world: World, content: str) -> None:
    row = store(world, "Faulty row", content)
    assert [left_out.row for left_out in reported_results.left_out(world.benchmark)] == [row]
    assert [left_out.system for left_out in reported_results.reported_of(world.benchmark).rows] == ["Sound row"]


@pytest.mark.parametrize("content", [BAD["a value that is text"], OVERFLOWS, '"58.3"', HALF])
def test_organisers_see_the_problem_and_remove_the_row(world: World, content: str) -> None:
    olga = person("olga")
    world.benchmark.organisers.add(olga)
    row = store(world, "Faulty <b>row</b>", content)
    client, where = Client(), "/manage/benchmarks/tiny/"
    client.force_login(olga)
    for page in (where, f"{where}reported/"):
        markup = client.get(page).content.decode()
        assert "Faulty &lt;b&gt;row&lt;/b&gt;" in markup and "The stored numbers are invalid" in markup
    assert client.post(f"{where}reported/{row.pk}/remove/").status_code == 302
    assert "The stored numbers are invalid" not in client.get(where).content.decode()
    User.objects.filter(pk=world.curator.pk).update(is_staff=True, is_superuser=True)
    client.force_login(world.curator)
    store(world, "Faulty row", content)
    assert client.get("/admin/leaderboard/reportedresult/").status_code == 200


def test_it_is_logged_once_per_process(world: World, caplog: pytest.LogCaptureFixture) -> None:
    row = store(world, "Faulty row", "[null]")
    for _ in range(3):
        assert Client().get("/benchmarks/tiny/test/").status_code == 200
    lines = [record for record in caplog.messages if "reported_row_skipped" in record]
    assert len(lines) == 1 and str(row.pk) in lines[0] and "tiny" in lines[0]


def test_check_boards_names_it() -> None:
    world, output = build_with_tracks(), io.StringIO()
    call_command("check_boards", without_plots=True, stdout=output)
    assert "reported result" not in output.getvalue()
    row = store(world, "Faulty row", BAD["an unknown measure"])
    with pytest.raises(CommandError, match="reported results that cannot be shown: 1"):
        call_command("check_boards", without_plots=True, stdout=output)
    assert f"reported result {row.pk} of tiny, Faulty row (P): measure is 'brilliance'" in output.getvalue()


def test_archives_leave_it_out(world: World) -> None:
    for number, content in enumerate((OVERFLOWS, "[null]")):
        store(world, f"Faulty {number}", content)
    assert [row.system for row in manifest_of.manifest_of(world.benchmark).reported] == ["Sound row"]
    assert [row.system for row in tables.TABLES[ReportedResult](world.benchmark)] == ["Sound row"]


@pytest.mark.parametrize("text", ["\ud800", "a\0b"])
@pytest.mark.parametrize("where", ["shown", "slice", "name"])
def test_every_input_refuses_what_cannot_be_encoded(text: str, where: str) -> None:
    value: dict[str, Any] = dict(GOOD)
    value |= {"shown": text} if where == "shown" else {"slice": {text: 1} if where == "name" else {"origin": text}}
    values = json.loads(json.dumps([value]))
    with pytest.raises(ValueError, match="a lone surrogate or NUL"):
        reported_numbers.check(values, task="fact-verification")
