"""Quotas count charges of a UTC day and of the whole phase; a refund returns the quota."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from leaderboard.models import QuotaCharge
from leaderboard.submissions.queries.quotas import quota_of
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


@pytest.fixture
def world() -> World:
    return build(quota_per_day=2, quota_total=3)


def test_an_unused_quota(world):
    quota = quota_of(phase=world.phase, team=None, at=NOON)
    assert (quota.left_today, quota.left_total) == (2, 3)
    assert quota.resets_at == datetime(2026, 3, 11, tzinfo=UTC)


def test_a_day_is_a_calendar_day_in_utc(world):
    world.insert_run(at=datetime(2026, 3, 9, 23, 59, 59, tzinfo=UTC))
    world.insert_run(at=datetime(2026, 3, 10, tzinfo=UTC))
    quota = quota_of(phase=world.phase, team=world.system.team, at=NOON)
    assert (quota.used_today, quota.used_total) == (1, 2)
    assert (quota.left_today, quota.left_total) == (1, 1)


def test_the_next_day_does_not_count(world):
    """A submission received just before midnight may be charged after one that was received just after it."""
    world.insert_run(at=datetime(2026, 3, 11, tzinfo=UTC))
    quota = quota_of(phase=world.phase, team=world.system.team, at=datetime(2026, 3, 10, 23, 59, 59, tzinfo=UTC))
    assert (quota.used_today, quota.used_total) == (0, 1)


def test_the_total_limits_the_day(world):
    for hours in (30, 31, 1):
        world.insert_run(at=NOON - timedelta(hours=hours))
    assert quota_of(phase=world.phase, team=world.system.team, at=NOON).left_today == 0


def test_a_refund_returns_the_quota(world):
    run = world.insert_run(at=NOON)
    QuotaCharge.objects.filter(submission=run.prediction.submission).update(refunded_at=NOON)
    assert quota_of(phase=world.phase, team=world.system.team, at=NOON).used_total == 0


def test_another_phase_or_team_does_not_count(world):
    world.insert_run(at=NOON)
    other = type(world.phase).objects.create(benchmark=world.benchmark, split=world.split, slug="final", title="Final")
    assert quota_of(phase=other, team=world.system.team, at=NOON).used_total == 0
