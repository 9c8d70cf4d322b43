"""Whom the sweeper asks for a report: those that reported, neither just now nor long ago."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from leaderboard.containers.actions import workers
from leaderboard.models import WorkerReport
from leaderboard.operations import sweep

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("ages", "asked"),
    [
        ({}, []),
        ({"a": 5}, []),
        ({"a": 45}, ["systems"]),
        ({"a": 45, "b": 50}, ["systems"]),
        ({"a": 3600}, []),
        ({"a": 3600, "b": 45}, ["systems"]),
    ],
)
def test_who_is_asked(monkeypatch: pytest.MonkeyPatch, ages: dict[str, int], asked: list[str]) -> None:
    at = timezone.now()
    for host, seconds in ages.items():
        seen = at - timedelta(seconds=seconds)
        WorkerReport.objects.create(queue="systems", host=host, ready=True, seen_at=seen)
    rung: list[str] = []
    monkeypatch.setattr(workers, "enqueue_report", rung.append)
    sweep.sweep()
    assert rung == asked
