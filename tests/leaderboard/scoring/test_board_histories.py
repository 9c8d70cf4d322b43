"""The sweep derives past standings of boards that were inserted otherwise: by an archive or before an upgrade."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from leaderboard.boards.actions import past_standings
from leaderboard.models import BoardHistory, Leaderboard, PastStanding
from leaderboard.scoring.actions import board_histories
from tests.support.api_calls import ROOT
from tests.support.rows.board_rows import score, stand
from tests.support.rows.tiny_world import build

pytestmark = pytest.mark.django_db
API = f"{ROOT}/benchmarks/tiny/phases/test/leaderboard/?as_of=2026-03-02"


def test_the_sweep_derives_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    world, first = build(), datetime(2026, 3, 1, 12, tzinfo=UTC)
    for number in range(5):
        stand(world, f"System {number % 3}", [score("accuracy", number / 10)], at=first + timedelta(hours=number))
    Leaderboard.objects.update(shown_from=first)
    fields = ("system", "release", "value", "since", "until")
    derived = set(PastStanding.objects.values_list(*fields))
    answer = Client().get(API).json()
    PastStanding.objects.all().delete()
    BoardHistory.objects.all().delete()
    refused = Client().get(API)
    assert refused.status_code == 400 and "being prepared" in refused.content.decode()
    assert "being prepared" in Client().get("/benchmarks/tiny/test/?as_of=2026-03-02").content.decode()
    monkeypatch.setattr(past_standings, "BATCH", 2)
    board_histories.sweep()
    assert set(PastStanding.objects.values_list(*fields)) == derived and len(derived) == 5
    assert Client().get(API).json() == answer
