"""Rank changes when a new board replaces an old one: stored with it, mailed to each standing team, limited by
disclosure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from leaderboard.accounts.actions import teams
from leaderboard.boards.actions import boards
from leaderboard.models import Leaderboard, Notice, Phase, RankChange, User
from leaderboard.notifications.actions import deliver, webhooks
from leaderboard.notifications.actions import rank_changes as notices
from leaderboard.scoring.actions import rescoring
from leaderboard.work_queue import enqueue
from tests.support.rows.corrected_gold import CORRECTED, correct, score_all, two_systems
from tests.support.rows.tiny_world import World, gold_lines

pytestmark = pytest.mark.django_db(transaction=True)
WHY = "labels of <b>batch 3</b> were swapped"


@pytest.fixture
def world(transactional_db: None, sandbox: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr(enqueue, "_send", lambda *_: None)
    yield two_systems()


def deliver_notices() -> list[Notice]:
    """Does what the sweep and the worker do; returns the notices of replaced boards."""
    deliver.sweep()
    for pk in Notice.objects.values_list("pk", flat=True):
        deliver.deliver(notice_id=pk)
    return list(Notice.objects.filter(body__event="board.replaced"))


def rank_changes_stored() -> list[tuple[Any, ...]]:
    rows = RankChange.objects.order_by("system__name")
    return list(rows.values_list("system__name", "rank_before", "rank", "value_before", "value", "measure"))


def page(world: World, user: User, system: str) -> str:
    client = Client()
    client.force_login(user)
    submission = world.phase.submissions.filter(system__name=system).earliest("received_at")
    return re.sub(r"<[^>]+>|\s+", " ", client.get(submission.get_absolute_url()).content.decode())


def test_rank_changes_are_stored_with_the_switch_and_stay(world: World) -> None:
    correct(world, reason=WHY)
    assert rank_changes_stored() == []
    score_all()
    expected = [("Bernoulli", 1, 2, 1.0, 0.0, "accuracy"), ("Contrary", 2, 1, 0.0, 1.0, "accuracy")]
    assert rank_changes_stored() == expected
    late = teams.system(team=world.system.team, name="Late", by=world.researcher)
    world.submit(CORRECTED, system=late)
    score_all()
    assert rank_changes_stored() == expected


def test_rank_changes_are_all_stored_or_none(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    correct(world)

    def broken(**_: Any) -> int:
        raise RuntimeError("the database went away")

    monkeypatch.setattr(boards, "record_rank_changes", broken)
    score_all()
    assert world.phase.leaderboards.get(state=Leaderboard.State.CURRENT).gold_version.number == 1
    assert not RankChange.objects.exists()


def test_each_standing_team_is_notified_once(world: World) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    outsider = User.objects.create_user("eve", "eve@holdout.example", "correct horse")
    webhooks.mail(to=outsider, is_on=True)
    correct(world, reason=WHY)
    score_all()
    (notice,) = deliver_notices()
    assert (notice.user, notice.state) == (world.researcher, "done")
    (message,) = mail.outbox
    assert message.to == ["ada@holdout.example"] and message.subject == "tiny, test: rescored"
    assert "Bernoulli: rank 1 -> 2, accuracy 1.000 -> 0.000" in message.body
    assert "Contrary: rank 2 -> 1, accuracy 0.000 -> 1.000" in message.body
    assert f"Reason: {WHY}" in message.body and "/benchmarks/tiny/test/gold-1/task-1/" in message.body
    deliver_notices()
    assert len(mail.outbox) == 1


def test_notices_take_a_constant_number_of_queries(world: World) -> None:
    """Each sweep of the next two days looks for them."""
    correct(world)
    score_all()
    change = RankChange.objects.earliest("pk")
    at = timezone.now()

    def written() -> tuple[int, int]:
        with CaptureQueriesContext(connection) as queries:
            return notices.write(at - timedelta(days=1), at), len(queries)

    number, few = written()
    for index in range(3):
        team = teams.create(name=f"Team {index}", by=world.researcher)
        change.pk, change.system = None, teams.system(team=team, name="Late", by=world.researcher)
        change.save(force_insert=True)
    assert number > 0 and written() == (3, few)
    assert written() == (0, 3), "the boards, their teams, and which of them are notified"


def test_a_subscription_after_the_switch_gets_no_mail(world: World) -> None:
    correct(world)
    score_all()
    webhooks.mail(to=world.researcher, is_on=True)
    (notice,) = deliver_notices()
    assert (notice.state, mail.outbox) == ("site", [])


def test_a_cancelled_rescoring_and_a_draft_notify_nobody(world: World) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    correct(world)
    rescoring.cancel(phase=world.phase, by=world.curator)
    assert deliver_notices() == []
    type(world.benchmark).objects.update(state="draft")
    correct(world, gold_lines().replace(b"\n", b"\r\n"))
    score_all()
    assert RankChange.objects.count() == 2 and deliver_notices() == []


def test_a_ladder_reports_rank_changes_in_its_steps(world: World) -> None:
    """Full precision is neither stored nor sent: the boards have only grid values."""
    Phase.objects.update(disclosure="ladder", scope="task", quota_everybody=100)
    webhooks.mail(to=world.researcher, is_on=True)
    correct(world)
    score_all()
    (notice,) = deliver_notices()
    shown_values = {row.system.name: row.value for row in world.phase.leaderboards.get(state="current").standings.all()}
    assert {entry["system"]: entry["value"] for entry in notice.body["systems"]} == shown_values
    assert "low" not in json.dumps(notice.body) and "high" not in json.dumps(notice.body)


def test_the_submission_page_shows_rank_changes_and_the_earlier_board(world: World) -> None:
    assert "Rescoring" not in page(world, world.researcher, "Bernoulli")
    correct(world, reason=WHY)
    score_all()
    markup = page(world, world.researcher, "Bernoulli")
    section = markup[markup.index("Rescoring") :]
    assert "labels of &lt;b&gt;batch 3&lt;/b&gt; were swapped" in section
    words = re.sub(r"\s+", " ", section)
    assert "rank 1 before, → 2 now" in words and "1.000 before, → 0.000 now" in words
    world.phase.submissions.filter(system__name="Bernoulli").update(received_at=timezone.now())
    assert "Rescoring" not in page(world, world.researcher, "Bernoulli"), "it was received after the switch"
