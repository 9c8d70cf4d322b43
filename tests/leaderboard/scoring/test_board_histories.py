"""The sweep derives past standings of boards that were inserted otherwise: by an archive or before an upgrade."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from leaderboard.boards.actions import past_standings
from leaderboard.models import AuditEntry, BoardHistory, Leaderboard, PastStanding
from leaderboard.scoring.actions import board_histories
from tests.support.api_calls import ROOT
from tests.support.rows.board_rows import score, stand
from tests.support.rows.tiny_world import build

pytestmark = pytest.mark.django_db
API = f"{ROOT}/benchmarks/tiny/phases/test/leaderboard/?as_of=2026-03-02"
PAGE = "/benchmarks/tiny/test/?as_of=2026-03-02"


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
    page = Client().get(PAGE)
    assert "being prepared" in page.content.decode()
    monkeypatch.setattr(past_standings, "BATCH", 2)
    board_histories.sweep()
    assert set(PastStanding.objects.values_list(*fields)) == derived and len(derived) == 5
    assert Client().get(API).json() == answer
    assert "System 1" in Client().get(PAGE, headers={"if-none-match": page["ETag"]}).content.decode()


def test_more_news_than_one_change_reads_are_left_to_the_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Releases that change no standing do not rank the board, and so wait for the next one that does."""
    world, first = build(), datetime(2026, 3, 1, 12, tzinfo=UTC)
    stand(world, "System 0", [score("accuracy", 0.5)], at=first)
    Leaderboard.objects.update(shown_from=first)
    monkeypatch.setattr(past_standings, "BATCH", 2)
    for hours in (1, 2, 3):
        stand(world, "System 0", [score("accuracy", 0.25)], at=first + timedelta(hours=hours))
    release = stand(world, "System 1", [score("accuracy", 0.75)], at=first + timedelta(hours=4))
    assert "being prepared" in Client().get(API).content.decode()
    board_histories.sweep()
    assert [row["system"] for row in Client().get(API).json()["rows"]] == ["System 1", "System 0"]
    assert PastStanding.objects.filter(release=release.pk).count() == 1


def test_entries_about_something_else_are_passed_over() -> None:
    world = build()
    stand(world, "System 0", [score("accuracy", 0.5)])
    entry = AuditEntry.record("gold.read", world.gold)
    stand(world, "System 0", [score("accuracy", 0.75)])
    assert BoardHistory.objects.get().entry >= entry.pk
