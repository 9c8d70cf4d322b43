"""What a switch of boards moved: kept with it, told to each team that stands there, and no more than boards tell."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import teams
from leaderboard.boards.actions import rank_changes
from leaderboard.models import Leaderboard, Move, Notice, Phase, User
from leaderboard.notifications.actions import deliver, webhooks
from leaderboard.scoring.actions import rescoring
from leaderboard.work_queue import enqueue
from tests.support.corrected_gold import CORRECTED, correct, score_all, two_systems
from tests.support.tiny_world import World, gold_lines

pytestmark = pytest.mark.django_db(transaction=True)
WHY = "labels of <b>batch 3</b> were swapped"


@pytest.fixture
def world(transactional_db: None, sandbox: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    monkeypatch.setattr(enqueue, "_send", lambda *_: None)
    yield two_systems()


def tell() -> list[Notice]:
    """What the sweeper and the worker do; the notices of switches."""
    deliver.sweep()
    for pk in Notice.objects.values_list("pk", flat=True):
        deliver.deliver(notice_id=pk)
    return list(Notice.objects.filter(body__event="board.replaced"))


def kept() -> list[tuple[Any, ...]]:
    rows = Move.objects.order_by("system__name")
    return list(rows.values_list("system__name", "rank_before", "rank", "value_before", "value", "measure"))


def page(world: World, user: User, system: str) -> str:
    client = Client()
    client.force_login(user)
    submission = world.phase.submissions.filter(system__name=system).earliest("received_at")
    return re.sub(r"<[^>]+>|\s+", " ", client.get(submission.get_absolute_url()).content.decode())


def test_the_switch_keeps_what_it_moved_and_later_submissions_do_not_change_that(world: World) -> None:
    correct(world, reason=WHY)
    assert kept() == []
    score_all()
    expected = [("Bernoulli", 1, 2, 1.0, 0.0, "accuracy"), ("Contrary", 2, 1, 0.0, 1.0, "accuracy")]
    assert kept() == expected
    late = teams.system(team=world.system.team, name="Late", by=world.researcher)
    world.submit(CORRECTED, system=late)
    score_all()
    assert kept() == expected


def test_moves_are_there_with_the_switch_or_not_at_all(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    correct(world)

    def broken(**_: Any) -> int:
        raise RuntimeError("the database went away")

    monkeypatch.setattr(rank_changes, "record", broken)
    score_all()
    assert world.phase.leaderboards.get(state=Leaderboard.State.CURRENT).gold_version.number == 1
    assert not Move.objects.exists()


def test_each_team_that_stands_there_is_told_once(world: World) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    stranger = User.objects.create_user("eve", "eve@holdout.example", "correct horse")
    webhooks.mail(to=stranger, is_on=True)
    correct(world, reason=WHY)
    score_all()
    (told,) = tell()
    assert (told.user, told.state) == (world.researcher, "done")
    (sent,) = mail.outbox
    assert sent.to == ["ada@holdout.example"] and sent.subject == "tiny, test: rescored"
    assert "Bernoulli: rank 1 -> 2, accuracy 1.000 -> 0.000" in sent.body
    assert "Contrary: rank 2 -> 1, accuracy 0.000 -> 1.000" in sent.body
    assert f"Reason: {WHY}" in sent.body and "/benchmarks/tiny/test/gold-1/task-1/" in sent.body
    tell()
    assert len(mail.outbox) == 1


def test_who_asks_after_the_switch_is_not_told_of_it(world: World) -> None:
    correct(world)
    score_all()
    webhooks.mail(to=world.researcher, is_on=True)
    assert tell() == []


def test_a_cancelled_scoring_and_a_draft_tell_nothing(world: World) -> None:
    webhooks.mail(to=world.researcher, is_on=True)
    correct(world)
    rescoring.cancel(phase=world.phase, by=world.curator)
    assert tell() == []
    type(world.benchmark).objects.update(state="draft")
    correct(world, gold_lines().replace(b"\n", b"\r\n"))
    score_all()
    assert Move.objects.count() == 2 and tell() == []


def test_a_ladder_tells_in_its_steps(world: World) -> None:
    """Full precision stands nowhere in what is kept or told: the boards hold grid values alone."""
    Phase.objects.update(disclosure="ladder", scope="task", quota_everybody=100)
    webhooks.mail(to=world.researcher, is_on=True)
    correct(world)
    score_all()
    (told,) = tell()
    shown = {row.system.name: row.value for row in world.phase.leaderboards.get(state="current").standings.all()}
    assert {one["system"]: one["value"] for one in told.body["systems"]} == shown
    assert "low" not in json.dumps(told.body) and "high" not in json.dumps(told.body)


def test_the_submissions_page_says_what_moved_and_where_the_old_board_is(world: World) -> None:
    assert "Scored again" not in page(world, world.researcher, "Bernoulli")
    correct(world, reason=WHY)
    score_all()
    found = page(world, world.researcher, "Bernoulli")
    told = found[found.index("Scored again") :]
    assert "labels of &lt;b&gt;batch 3&lt;/b&gt; were swapped" in told
    words = re.sub(r"\s+", " ", told)
    assert "rank 1 before, → 2 now" in words and "1.000 before, → 0.000 now" in words
    world.phase.submissions.filter(system__name="Bernoulli").update(received_at=timezone.now())
    assert "Scored again" not in page(world, world.researcher, "Bernoulli"), "it came after the switch"
