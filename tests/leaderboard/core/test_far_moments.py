"""Moments near the ends of the calendar, which some clocks cannot show: no page fails because of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from django.contrib.admin import site
from django.test import Client

from leaderboard.admin.phases import PhaseAdmin
from leaderboard.benchmarks.actions import benchmarks, deadlines
from leaderboard.core import time_zones
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import Phase
from tests.support.api_calls import person
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import TOLD_IN_FULL, World, build

pytestmark = pytest.mark.django_db
LAST = datetime(9999, 12, 31, 23, 59, tzinfo=UTC)
FIRST = datetime(1, 1, 1, tzinfo=UTC)
FAR = [
    LAST,
    FIRST,
    time_zones.LATEST,
    time_zones.EARLIEST - timedelta(minutes=1),
    FIRST.replace(tzinfo=timezone(timedelta(hours=14))),
    LAST.replace(tzinfo=timezone(timedelta(hours=-12))),
]


world, _django_db_helper = shared_states(world=build)


@pytest.fixture
def manager(world: World) -> Client:
    client = Client(raise_request_exception=False)
    client.force_login(world.curator)
    return client


@pytest.mark.parametrize("moment", [LAST, FIRST])
@pytest.mark.parametrize("zone", ["UTC", "AoE", "Asia/Tokyo", "America/New_York", "Pacific/Kiritimati"])
def test_a_stored_moment_is_shown_on_every_clock(moment: datetime, zone: str) -> None:
    text = time_zones.shown(moment, zone)
    assert text.endswith((" UTC", f" {zone}"))
    assert time_zones.describe(moment, zone).startswith(time_zones.shown(moment, "UTC"))


def test_where_the_zones_clock_cannot_show_it_only_utc_is_shown() -> None:
    assert time_zones.describe(LAST, "Asia/Tokyo") == "9999-12-31 23:59 UTC"
    assert time_zones.describe(LAST, "America/New_York") == "9999-12-31 23:59 UTC (9999-12-31 18:59 America/New_York)"


@pytest.mark.parametrize("zone", ["UTC", "Asia/Tokyo", "AoE"])
def test_pages_of_a_phase_with_such_a_moment_work(world: World, manager: Client, zone: str) -> None:
    Phase.objects.filter(pk=world.phase.pk).update(closes_at=LAST, time_zone=zone)
    for page in ("/benchmarks/tiny/", "/benchmarks/tiny/feed.atom", "/manage/benchmarks/tiny/", deadline_of(world)):
        assert manager.get(page).status_code == 200, page
    api = manager.get("/api/v1/benchmarks/tiny/")
    assert api.json()["phases"][0]["closes_at"].startswith("9999-12-31T23:59")
    assert b"9999-12-31 23:59" in Client().get("/benchmarks/tiny/").content


def deadline_of(world: World) -> str:
    return f"/manage/benchmarks/tiny/phases/{world.phase.slug}/deadline/"


@pytest.mark.parametrize(
    ("field", "local", "zone"),
    [
        ("closes_at", "9999-12-31T23:59", "AoE"),
        ("sealed_until", "9999-12-31T23:59", "AoE"),
        ("opens_at", "9999-12-31T23:59", "America/New_York"),
        ("opens_at", "0001-01-01T00:00", "Asia/Tokyo"),
        ("opens_at", "1999-12-31T23:59", "UTC"),
        ("closes_at", "2100-01-01T00:00", "UTC"),
    ],
)
def test_adding_a_phase_refuses_it_with_a_message(
    world: World, manager: Client, field: str, local: str, zone: str
) -> None:
    kind = {"sealed_until": Phase.Disclosure.SEALED}.get(field, Phase.Disclosure.FULL)
    values = {**form(world), "disclosure": kind, "time_zone": zone, field: local}
    answer = manager.post("/manage/benchmarks/tiny/phases/create/", values)
    assert answer.status_code == 422
    assert "is out of range; expected a year from 2000 to 2099." in answer.content.decode()
    assert not Phase.objects.filter(slug="final").exists()


def form(world: World) -> dict[str, Any]:
    quotas = {"quota_per_day": 5, "quota_total": 50, "takes_predictions": "on"}
    return {**TOLD_IN_FULL, "title": "Final", "slug": "final", "split": world.split.pk, **quotas}


def test_the_last_moment_of_the_last_year_is_accepted(world: World, manager: Client) -> None:
    data = {**form(world), "closes_at": "2099-12-31T23:59", "time_zone": "UTC"}
    assert manager.post("/manage/benchmarks/tiny/phases/create/", data).status_code == 302
    assert Phase.objects.get(slug="final").closes_at == datetime(2099, 12, 31, 23, 59, tzinfo=UTC)


@pytest.mark.parametrize("local", ["9999-12-31T23:59", "2100-01-01T00:00"])
def test_a_deadline_is_not_moved_there(world: World, manager: Client, local: str) -> None:
    before = datetime(2030, 1, 1, tzinfo=UTC)
    Phase.objects.filter(pk=world.phase.pk).update(closes_at=before)
    answer = manager.post(deadline_of(world), {"closes_at": local, "reason": "Ever after."})
    assert answer.status_code == 422 and "is out of range" in answer.content.decode()
    assert Phase.objects.get(pk=world.phase.pk).closes_at == before


@pytest.mark.parametrize("moment", FAR)
def test_every_action_refuses_it(world: World, moment: datetime) -> None:
    Phase.objects.filter(pk=world.phase.pk).update(closes_at=datetime(2030, 1, 1, tzinfo=UTC))
    world.phase.refresh_from_db()
    dates: dict[str, Any] = {"opens_at": None, "closes_at": None, "sealed_until": None}
    fields = {"benchmark": world.benchmark, "slug": "final", "title": "Final", "split": world.split, "options": {}}
    phases = [Phase(**{**fields, **dates, name: moment}) for name in dates]
    actions = [lambda phase=phase: benchmarks.add_phase(phase=phase, by=world.curator) for phase in phases]
    actions.append(lambda: deadlines.extend(phase=world.phase, closes_at=moment, reason="Why.", by=world.curator))
    for action in actions:
        with pytest.raises(Refused, match="is out of range; expected a year from 2000 to 2099") as refused:
            action()
        assert refused.value.code == Code.INVALID_VALUE


@pytest.mark.parametrize("day", ["9999-12-31", "0001-01-01", "1999-12-31", "2100-01-01"])
def test_the_admin_refuses_it_too(world: World, rf: Any, day: str) -> None:
    request = rf.get("/")
    request.user = person("operator", is_superuser=True)
    admin_form = PhaseAdmin(Phase, site).get_form(request, world.phase, change=True)(
        {"opens_at_0": day, "opens_at_1": "00:00"}
    )
    assert "is out of range" in str(admin_form.errors["opens_at"])
