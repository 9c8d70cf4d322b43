"""Deadlines: time zones other than UTC, extensions for everybody and for one team, and whose clock decides."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db.models import DateTimeField, Value
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import teams
from leaderboard.benchmarks.actions import deadlines as extensions
from leaderboard.core import db_clock, time_zones
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import AuditEntry, Extension, Phase, Submission, System
from leaderboard.submissions.queries import deadlines
from tests.support.api_calls import client_of, person, send
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import TOLD_IN_FULL, World, build, prediction_lines

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
END = datetime(2030, 3, 2, 11, 59, tzinfo=UTC)


world, _django_db_helper = shared_states(world=build)


@pytest.fixture
def closed(world: World) -> World:
    """The phase, closed an hour ago."""
    change(world, closes_at=timezone.now() - HOUR, opens_at=timezone.now() - 9 * HOUR)
    return world


def change(world: World, **fields: Any) -> None:
    Phase.objects.filter(pk=world.phase.pk).update(**fields)
    world.phase.refresh_from_db()


def extend(world: World, closes_at: datetime, **fields: Any) -> Extension:
    kwargs = {
        "phase": world.phase,
        "closes_at": closes_at,
        "reason": "The power was out.",
        "by": world.curator,
        **fields,
    }
    extension = extensions.extend(**kwargs)
    world.phase.refresh_from_db()
    return extension


def refusal_code(world: World, closes_at: datetime, **fields: Any) -> Code:
    with pytest.raises(Refused) as refused:
        extend(world, closes_at, **fields)
    world.phase.refresh_from_db()
    return refused.value.code


@pytest.mark.parametrize(
    ("local", "zone", "expected"),
    [
        ("2030-03-01 23:59", "AoE", "2030-03-02 11:59"),
        ("2030-03-01 23:59", "UTC", "2030-03-01 23:59"),
        ("2030-01-15 12:00", "Europe/Berlin", "2030-01-15 11:00"),
        ("2030-07-15 12:00", "Europe/Berlin", "2030-07-15 10:00"),
        ("2030-07-15 12:00", "Asia/Kolkata", "2030-07-15 06:30"),
    ],
)
def test_a_local_date_is_converted_to_utc(local: str, zone: str, expected: str) -> None:
    moment = time_zones.local_to_utc(datetime.fromisoformat(local), zone)
    assert moment == datetime.fromisoformat(expected).replace(tzinfo=UTC)
    assert time_zones.shown(moment, zone) == f"{local} {zone}"


@pytest.mark.parametrize(("local", "word"), [("2030-03-31 02:30", "does not exist"), ("2030-10-27 02:30", "twice")])
def test_skipped_and_ambiguous_local_times_are_errors(local: str, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        time_zones.local_to_utc(datetime.fromisoformat(local), "Europe/Berlin")


def test_pages_and_messages_show_both_clocks(world: World) -> None:
    change(world, time_zone="AoE", closes_at=END)
    page = Client().get("/benchmarks/tiny/").content.decode()
    assert "2030-03-02 11:59 UTC" in page and "2030-03-01 23:59 AoE" in page
    assert Client().get("/api/v1/benchmarks/tiny/").json()["phases"][0]["time_zone"] == "AoE"
    change(world, closes_at=datetime(2020, 3, 2, 11, 59, tzinfo=UTC))
    answer = send(client_of(world.researcher), prediction_lines())
    assert answer.status_code == 409
    assert "closed at 2020-03-02 11:59 UTC (2020-03-01 23:59 AoE)" in answer.json()["message"]


def test_a_phase_form_reads_dates_in_its_zone(world: World) -> None:
    client = Client()
    client.force_login(world.curator)
    form = {
        **TOLD_IN_FULL,
        "title": "Final",
        "slug": "final",
        "split": world.split.pk,
        "closes_at": "2030-03-01T23:59",
        "quota_per_day": 5,
        "quota_total": 50,
        "takes_predictions": "on",
    }
    where = "/manage/benchmarks/tiny/phases/create/"
    assert client.post(where, {**form, "time_zone": "Mars/Olympus"}).status_code == 422
    skipped = {**form, "closes_at": "2030-03-31T02:30", "time_zone": "Europe/Berlin"}
    answer = client.post(where, skipped)
    assert answer.status_code == 422 and "does not exist in Europe/Berlin" in answer.content.decode()
    past = client.post(where, {**form, "closes_at": "2020-01-01T00:00", "time_zone": "UTC"})
    assert past.status_code == 422
    assert "2020-01-01 00:00 UTC has passed; expected a date in the future." in past.content.decode()
    sealed = {**form, "disclosure": "sealed", "sealed_until": "2020-01-01T00:00", "closes_at": ""}
    assert client.post(where, sealed).status_code == 422
    assert client.post(where, {**form, "time_zone": "AoE"}).status_code == 302
    phase = Phase.objects.get(slug="final")
    assert (phase.time_zone, phase.closes_at) == ("AoE", END)


def test_an_extension_reopens_the_phase_and_stays_in_its_history(closed: World) -> None:
    before = closed.phase.closes_at
    assert not closed.phase.is_open()
    new_end = timezone.now() + HOUR
    extend(closed, new_end)
    extend(closed, new_end + HOUR, reason="Once more <b>.")
    assert closed.phase.closes_at == new_end + HOUR and closed.phase.is_open()
    assert [(extension.before, extension.closes_at) for extension in closed.phase.extensions.all()] == [
        (before, new_end),
        (new_end, new_end + HOUR),
    ]
    page = Client().get("/benchmarks/tiny/about/submit/").content.decode()
    assert "The power was out." in page and "Once more &lt;b&gt;." in page
    extensions_shown = Client().get("/api/v1/benchmarks/tiny/").json()["phases"][0]["extensions"]
    assert [extension["reason"] for extension in extensions_shown] == ["The power was out.", "Once more <b>."]
    assert AuditEntry.objects.filter(action="phase.extended").count() == 2


def test_a_deadline_moves_only_later_and_into_the_future(closed: World) -> None:
    end = closed.phase.closes_at
    assert end is not None
    assert refusal_code(closed, end) is Code.INVALID_VALUE
    assert refusal_code(closed, end + HOUR / 2) is Code.INVALID_VALUE
    assert refusal_code(closed, end + 2 * HOUR, reason=" ") is Code.INVALID_REASON
    assert refusal_code(closed, end + 2 * HOUR, by=closed.researcher) is Code.NOT_AN_ORGANISER
    change(closed, closes_at=None)
    assert refusal_code(closed, end + 2 * HOUR) is Code.NOT_POSSIBLE
    assert not Extension.objects.exists()


@pytest.mark.usefixtures("sandbox")
def test_the_servers_receipt_time_decides(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A submission received a microsecond before the end is accepted, although its check ends after the deadline."""
    end = timezone.now() + HOUR
    change(world, closes_at=end)
    monkeypatch.setattr(db_clock, "column", lambda: Value(end, DateTimeField()))
    accepted = world.submit()
    assert accepted.received_at == end
    end += timedelta(microseconds=1)
    with pytest.raises(Refused) as late:
        world.submit()
    assert late.value.code is Code.PHASE_CLOSED and Submission.objects.count() == 1


@pytest.mark.usefixtures("sandbox")
def test_an_extension_for_one_team_is_visible_only_to_it(closed: World) -> None:
    bob = person("bob")
    other: System = teams.system(team=teams.create(name="Others", by=bob), name="Other", by=bob)
    extend(closed, timezone.now() + HOUR, team=closed.system.team, reason="PRIVATE-REASON")
    assert not closed.phase.is_open() and deadlines.is_open(closed.phase, team=closed.system.team)
    closed.submit()
    with pytest.raises(Refused) as refused:
        closed.submit(system=other, by=bob)
    assert refused.value.code is Code.PHASE_CLOSED
    pages = {}
    for user in (closed.researcher, bob):
        client = Client()
        client.force_login(user)
        pages[user] = client.get("/benchmarks/tiny/test/submit/").content.decode()
        public = client.get("/benchmarks/tiny/").content + client.get("/api/v1/benchmarks/tiny/").content
        assert b"PRIVATE-REASON" not in public
    assert "PRIVATE-REASON" in pages[closed.researcher] and 'type="file"' in pages[closed.researcher]
    assert "PRIVATE-REASON" not in pages[bob] and 'type="file"' not in pages[bob]
    assert Client().get("/api/v1/benchmarks/tiny/").json()["phases"][0]["extensions"] == []


def sealed(world: World) -> None:
    at = timezone.now()
    change(world, disclosure="sealed", closes_at=at + HOUR, sealed_until=at + 2 * HOUR)


def test_an_extension_moves_the_seal_of_a_phase_but_not_for_one_team(world: World) -> None:
    sealed(world)
    opened = world.phase.sealed_until
    assert opened is not None
    assert refusal_code(world, opened + HOUR, team=world.system.team) is Code.INVALID_VALUE
    extend(world, opened, team=world.system.team)
    extend(world, opened - HOUR / 2)
    assert world.phase.sealed_until == opened
    extend(world, opened + HOUR)
    assert world.phase.closes_at == world.phase.sealed_until == opened + HOUR
    change(world, unsealed_at=timezone.now())
    assert refusal_code(world, opened + 9 * HOUR) is Code.NOT_POSSIBLE


def test_the_page_moves_the_end_in_the_phases_zone(world: World) -> None:
    client = Client()
    client.force_login(world.curator)
    change(world, closes_at=END)
    where = "/manage/benchmarks/tiny/phases/test/"
    assert client.post(f"{where}zone/", {"time_zone": "AoE"}).status_code == 302
    assert client.post(f"{where}zone/", {"time_zone": "Nowhere/Else"}).status_code == 422
    assert client.post(f"{where}deadline/", {"closes_at": "2030-03-03T23:59", "reason": "More time"}).status_code == 302
    world.phase.refresh_from_db()
    assert world.phase.closes_at == END + timedelta(days=2) and world.phase.time_zone == "AoE"
    answer = client.post(f"{where}deadline/", {"closes_at": "2030-03-03T23:59", "reason": "x", "team": "No such"})
    assert answer.status_code == 422 and "no team with this name" in answer.content.decode()
    assert client.post(f"{where}deadline/", {"closes_at": "2030-03-01T00:00", "reason": "earlier"}).status_code == 422
    text = client.get(f"{where}deadline/").content.decode()
    assert "More time" in text and "2030-03-03 23:59 AoE" in text
