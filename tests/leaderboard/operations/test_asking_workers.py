"""Which workers the sweep asks for a report: those whose last report is neither very recent nor long ago."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.containers.actions import workers
from leaderboard.models import WorkerReport
from leaderboard.operations import sweep

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("ages", "expected"),
    [
        ({}, []),
        ({"a": 5}, []),
        ({"a": 45}, ["systems"]),
        ({"a": 45, "b": 50}, ["systems"]),
        ({"a": 3600}, []),
        ({"a": 3600, "b": 45}, ["systems"]),
    ],
)
def test_workers_are_asked_by_the_age_of_their_report(
    monkeypatch: pytest.MonkeyPatch, ages: dict[str, int], expected: list[str]
) -> None:
    at = timezone.now()
    for host, seconds in ages.items():
        last_report = at - timedelta(seconds=seconds)
        WorkerReport.objects.create(queue="systems", host=host, ready=True, seen_at=last_report)
    rung: list[str] = []
    monkeypatch.setattr(workers, "enqueue_report", rung.append)
    sweep.sweep()
    assert rung == expected
