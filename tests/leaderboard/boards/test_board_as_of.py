"""A board as of a day: results released by the end of that day, with their ranks then, on page and API."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.boards.actions import boards, past_standings
from leaderboard.boards.queries import Board, board_of, page_of, parse, read_head
from leaderboard.models import AuditEntry, Leaderboard, Release, ReleaseSlice, Standing, Submission, System
from leaderboard.scoring.verification.rebuild_board import as_stored
from leaderboard.systems.actions import systems
from tests.support.api_calls import ROOT
from tests.support.rows.board_rows import score, stand
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
API = f"{ROOT}/benchmarks/tiny/phases/test/leaderboard/"
PAGE = "/benchmarks/tiny/test/"
FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)


def built() -> World:
    new_world = build()
    new_world.benchmark.organisers.add(new_world.curator)
    return new_world


world, _django_db_helper = shared_states(world=built)


def add_result(world: World, name: str, value: float, day: int, **fields: Any) -> Release:
    """A result released on that day of March; the board is shown from its first result on."""
    release = stand(
        world, name, [score("accuracy", value), score("accuracy", value / 2, origin="original")], **_at(day), **fields
    )
    Leaderboard.objects.update(shown_from=FIRST)
    return release


def _at(day: int) -> dict[str, datetime]:
    return {"at": FIRST + timedelta(days=day - 1)}


def rows_on(day: str, **query: str) -> list[tuple[int | None, str, float | None]]:
    rows = Client().get(API, {"as_of": day, **query}).json()["rows"]
    return [(row["rank"], row["system"], row["scores"][0]["value"]) for row in rows]


def test_the_files_are_of_the_board_on_the_page(world: World) -> None:
    add_result(world, "Early", 0.5, 1)
    add_result(world, "Late", 0.75, 3)
    page = Client().get(PAGE, {"as_of": "2026-03-02", "slice": "origin:original"}).content.decode()
    links = {
        html.unescape(link) for link in re.findall(r'href="(/api/v1/[^"]*leaderboard(?:/|\.csv)(?:\?[^"]*)?)"', page)
    }
    assert len(links) == 2, "the board's CSV and its plot's CSV are one"
    for link in links:
        content = Client().get(link).content.decode()
        assert "Early" in content and "0.25" in content and "Late" not in content
    page = Client().get(PAGE).content.decode()
    assert f'href="{API}">JSON</a>' in page and f'href="{API[:-1]}.csv">CSV</a>' in page


def backdate(action: str, day: int) -> None:
    """Moves the last action of that name to that day; the audit trail refuses updates, so the entry is replaced."""
    entry = AuditEntry.objects.filter(action=action).latest("pk")
    AuditEntry.objects.filter(pk=entry.pk).delete()
    replacement = AuditEntry(actor=entry.actor, action=action, subject=entry.subject, detail=entry.detail)
    field = AuditEntry._meta.get_field("at")
    field.auto_now_add = False
    try:
        replacement.at = FIRST + timedelta(days=day - 1)
        replacement.save()
    finally:
        field.auto_now_add = True
    derive()


def derive() -> None:
    """Derive past standings from rows that a test has inserted directly, as the next change of a board would."""
    for board in Leaderboard.objects.select_related("phase__benchmark", "phase__split", "gold_version"):
        past_standings.catch_up(board)


def test_a_board_has_the_results_released_until_then(world: World) -> None:
    add_result(world, "Early", 0.5, 1)
    add_result(world, "Late", 0.75, 3)
    add_result(world, "Early", 0.9, 5)
    assert rows_on("2026-02-28") == []
    assert rows_on("2026-03-01") == rows_on("2026-03-02") == [(1, "Early", 0.5)]
    assert rows_on("2026-03-03") == [(1, "Late", 0.75), (2, "Early", 0.5)]
    assert rows_on("2026-03-05") == [(1, "Early", 0.9), (2, "Late", 0.75)]
    assert rows_on("2026-03-03", slice="origin:original", sort="-accuracy") == [(2, "Early", 0.25), (1, "Late", 0.375)]
    assert rows_on("2026-03-03", search="late") == [(1, "Late", 0.75)]
    assert rows_on("2026-03-03", at_least="0.6") == [(1, "Late", 0.75)]
    assert rows_on("2026-03-03", page_size="1", page="2") == [(2, "Early", 0.5)]


def test_a_day_ends_at_midnight_utc(world: World) -> None:
    stand(world, "Engine", [score("accuracy", 0.5)], at=datetime(2026, 3, 2, tzinfo=UTC))
    Leaderboard.objects.update(shown_from=FIRST)
    assert rows_on("2026-03-01") == []
    assert rows_on("2026-03-02") == [(1, "Engine", 0.5)]


def test_today_equals_the_rebuilt_board(world: World) -> None:
    for index, (name, value) in enumerate([("a", 0.5), ("b", 0.5), ("c", 0.25), ("a", 0.75), ("d", 0.5), ("c", 0.1)]):
        add_result(world, name, value, index + 1, team=f"T {name in 'ab'}")
    add_result(world, "base", 0.99, 9, kind="baseline")
    chosen_submission = System.objects.get(name="a").submissions.earliest("received_at")
    chosen_submission.system.team.members.add(world.researcher)
    systems.represent(submission=chosen_submission, by=world.researcher)
    systems.disqualify(phase=world.phase, system=System.objects.get(name="b"), reason="copied", by=world.curator)
    board = Leaderboard.objects.get()
    head = read_head(_phase(world), timezone.now().date().isoformat())
    assert isinstance(head, Board) and head.as_of is not None
    rows = page_of(head, parse(head, {})).board.rows
    sequences = dict(Release.objects.values_list("submission", "sequence"))
    as_of_rows = [
        {"system": row.system_id, "sequence": sequences[row.submission_id], "value": row.score("accuracy").value}
        | {"rank": row.rank}
        for row in rows
    ]
    assert sorted(as_of_rows, key=lambda row: row["system"]) == as_stored(board)["standings"]
    standing = {row.system_id: row for row in Standing.objects.all()}
    assert {row.system_id: row.disqualified for row in rows} == {pk: row.disqualified for pk, row in standing.items()}
    current_rows = board_of(_phase(world)).rows
    assert {row.system: row.tied for row in rows} == {row.system: row.tied for row in current_rows}
    assert sum(row.tied for row in rows) == 2


def _phase(world: World) -> Any:
    return type(world.phase).objects.select_related("benchmark__dataset", "split", "scorer").get(pk=world.phase.pk)


def test_a_system_disqualified_later_was_ranked_then(world: World) -> None:
    add_result(world, "Copied", 0.9, 1)
    add_result(world, "Honest", 0.5, 1)
    system = System.objects.get(name="Copied")
    systems.disqualify(phase=world.phase, system=system, reason="copied", by=world.curator)
    backdate("system.disqualified", 4)
    assert rows_on("2026-03-03") == [(1, "Copied", 0.9), (2, "Honest", 0.5)]
    assert rows_on("2026-03-04") == [(1, "Honest", 0.5), (None, "Copied", 0.9)]
    systems.reinstate(phase=world.phase, system=system, by=world.curator)
    backdate("system.reinstated", 6)
    assert rows_on("2026-03-05") == [(1, "Honest", 0.5), (None, "Copied", 0.9)]
    assert rows_on("2026-03-06") == [(1, "Copied", 0.9), (2, "Honest", 0.5)]


def test_a_teams_choice_applies_from_the_day_it_was_made(world: World) -> None:
    worse = add_result(world, "Engine", 0.5, 1)
    add_result(world, "Engine", 0.9, 2)
    submission = Submission.objects.get(pk=worse.submission_id)
    systems.represent(submission=submission, by=world.researcher)
    backdate("system.represented", 4)
    assert rows_on("2026-03-03") == [(1, "Engine", 0.9)]
    assert rows_on("2026-03-04") == [(1, "Engine", 0.5)]
    systems.represent_by_best(phase=world.phase, system=submission.system, by=world.researcher)
    backdate("system.represented", 6)
    assert rows_on("2026-03-05") == [(1, "Engine", 0.5)]
    assert rows_on("2026-03-06") == [(1, "Engine", 0.9)]


def test_names_are_shown_as_they_are_today(world: World) -> None:
    hidden = {"anonymous_until": timezone.now() + timedelta(days=1), "anonymous_number": 3}
    add_result(world, "Secret", 0.9, 1, **hidden)
    assert rows_on("2026-03-02") == [(1, "Anonymous 3", 0.9)]
    assert rows_on("2026-03-02", search="secret") == []
    assert "Secret" not in Client().get(f"{PAGE}?as_of=2026-03-02").content.decode()
    System.objects.update(anonymous_until=None)
    assert rows_on("2026-03-02") == [(1, "Secret", 0.9)]


def test_the_board_shown_on_that_day_is_used(world: World) -> None:
    """A board of corrected gold is not used for days before it was shown."""
    add_result(world, "Engine", 0.5, 1)
    gold = world.gold
    gold.pk, gold.number, gold.sha256 = None, 2, "1" * 64
    gold.save(force_insert=True)
    old = Leaderboard.objects.get()
    Leaderboard.objects.update(state="frozen")
    later = {"shown_from": FIRST + timedelta(days=9), "state": "current"}
    new = Leaderboard.objects.create(phase=world.phase, gold_version=gold, task_version=1, **later)
    run = world.insert_run(state="done", finished_at=FIRST, outcomes="o", outcomes_sha256="0" * 64)
    Submission.objects.filter(pk=run.prediction.submission_id).update(system=System.objects.get(name="Engine"))
    release = Release.objects.create(
        phase=world.phase,
        sequence=2,
        run=run,
        submission=run.prediction.submission,
        policy="full",
        primary="accuracy",
        values=[score("accuracy", 0.25)],
        released_at=FIRST + timedelta(days=8),
    )
    ReleaseSlice.objects.create(release=release, scores={"accuracy": [0.25, None, None, 4]})
    Standing.objects.create(leaderboard=new, system=release.submission.system, release=release, value=0.25, rank=1)
    boards.revise(Leaderboard.objects.all())
    derive()
    answer = Client().get(API, {"as_of": "2026-03-09"}).json()
    assert (answer["gold_version"], answer["as_of"], answer["rank_ranges"]) == (1, "2026-03-09", "none")
    assert Client().get(API, {"as_of": "2026-03-10"}).json()["gold_version"] == 2
    frozen = {"gold_version": "1", "task_version": "1"}
    assert Client().get(API, {"as_of": "2026-03-02", **frozen}).json()["rows"][0]["scores"][0]["value"] == 0.5
    assert old.gold_version.number == 1
    # Decisions after a board was frozen do not affect it.
    systems.disqualify(phase=world.phase, system=System.objects.get(name="Engine"), reason="copied", by=world.curator)
    backdate("system.disqualified", 12)
    assert [rank for rank, *_ in rows_on("2026-03-20")] == [None]
    assert rows_on("2026-03-20", **frozen) == [(1, "Engine", 0.5)]


def test_the_page_says_so_and_links_back(world: World) -> None:
    add_result(world, "Early", 0.5, 1)
    add_result(world, "Late", 0.75, 3)
    text = Client().get(f"{PAGE}?as_of=2026-03-02").content.decode()
    assert "As of" in text and "2026-03-02" in text and "Early" in text and "Late" not in text
    assert 'href="?">Show the current board' in text
    nothing = Client().get(f"{PAGE}?as_of=2026-02-01").content.decode()
    assert "No results of this phase had been released" in nothing
    csv = Client().get(API.rstrip("/") + ".csv", {"as_of": "2026-03-02"})
    assert "Late" not in csv.content.decode() and "2026-03-02" in csv["Content-Disposition"]
