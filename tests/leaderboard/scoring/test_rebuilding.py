"""A board rebuilt from its stored runs is equal byte for byte, and a row that was changed is found."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.management import CommandError, call_command

from leaderboard.accounts.actions import teams
from leaderboard.models import Leaderboard, Phase, Score, Standing, System
from leaderboard.scoring.verification.rebuild_board import as_bytes, as_rebuilt, as_stored, differences
from leaderboard.submissions.actions.hide import hide, unhide
from leaderboard.systems.actions import systems
from tests.support.api_calls import person
from tests.support.rows.many_groups import a_phase, a_split, answers, correct, gold_of, labels_of, score_all, send
from tests.support.rows.tiny_world import World, build

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
LABELS = labels_of(100)


@pytest.fixture
def world() -> World:
    return build()


def a_board(world: World, **policy: Any) -> Leaderboard:
    """Two teams, a baseline, ties, and constant answers; scored in reverse order."""
    phase = a_phase(world, a_split(world, LABELS), **policy)
    grace = person("grace")
    other = teams.system(team=teams.create(name="Compilers", by=grace), name="A-0", by=grace)
    baseline = teams.system(team=world.system.team, name="Majority", by=world.researcher)
    System.objects.filter(pk=baseline.pk).update(kind=System.Kind.BASELINE)
    second = teams.system(team=world.system.team, name="Second", by=world.researcher)
    for wrong in (40, 33, 20, 20):
        send(world, phase, answers(LABELS, wrong))
        world.submit(answers(LABELS, wrong - 3), phase=phase, system=other, by=grace)
    send(world, phase, answers(LABELS, 50), system=baseline)
    send(world, phase, answers(LABELS, 20), system=second)
    score_all(last_first=True)
    return phase.leaderboards.get(state=Leaderboard.State.CURRENT)


@pytest.mark.parametrize(
    "policy",
    [
        {"disclosure": "full"},
        {"disclosure": "ladder", "scope": "task"},
        {"disclosure": "ladder", "scope": "team", "quota_everybody": 50},
    ],
    ids=["full", "ladder for everybody", "ladder a team"],
)
def test_a_rebuilt_board_is_equal_byte_for_byte(world: World, policy: dict[str, Any]) -> None:
    board = a_board(world, **policy)
    assert Standing.objects.filter(leaderboard=board).count() == 4
    assert as_bytes(as_rebuilt(board)) == as_bytes(as_stored(board))
    correct(Phase.objects.get(pk=board.phase_id).split, world, gold_of(answers(LABELS, 36)))
    score_all(last_first=True)
    boards = Leaderboard.objects.filter(phase=board.phase_id)
    assert {each.state for each in boards} == {"frozen", "current"}
    assert [differences(each) for each in boards] == [[], []]


def test_later_decisions_do_not_change_a_frozen_board(world: World) -> None:
    """Also not when it is rebuilt: it stays as it was when another board replaced it."""
    board = a_board(world, disclosure="full")
    phase = Phase.objects.get(pk=board.phase_id)
    first = phase.submissions.filter(system=world.system).earliest("received_at")
    systems.represent(submission=first, by=world.researcher)
    correct(phase.split, world, gold_of(answers(LABELS, 36)))
    score_all(last_first=True)
    systems.represent_by_best(phase=phase, system=world.system, by=world.researcher)
    systems.disqualify(phase=phase, system=world.system, reason="trained on the test", by=world.curator)
    frozen, current = Leaderboard.objects.filter(phase=phase).order_by("gold_version__number")
    assert [each.state for each in (frozen, current)] == ["frozen", "current"]
    assert frozen.standings.get(system=world.system).release.submission == first
    assert [differences(each) for each in (frozen, current)] == [[], []]


def test_hidden_submissions_leave_frozen_boards_and_stay_hidden_after_rescoring(world: World) -> None:
    board = a_board(world, disclosure="ladder", scope="team", quota_everybody=50)
    phase = Phase.objects.get(pk=board.phase_id)
    stood = Standing.objects.select_related("release__submission").get(leaderboard=board, system=world.system)
    before = as_bytes(as_stored(board))
    hide(submission=stood.release.submission, reason="leaked", by=world.curator)
    assert differences(board) == [] and as_bytes(as_stored(board)) != before
    correct(phase.split, world, gold_of(answers(LABELS, 36)))
    score_all(last_first=True)
    frozen, current = Leaderboard.objects.filter(phase=phase).order_by("gold_version__number")
    assert [each.state for each in (frozen, current)] == ["frozen", "current"]
    standings = Standing.objects.filter(leaderboard__phase=phase, release__submission=stood.release.submission)
    assert not standings.exists() and [differences(each) for each in (frozen, current)] == [[], []]
    unhide(submission=stood.release.submission, by=world.curator)
    assert as_bytes(as_stored(frozen)) == before and [differences(each) for each in (frozen, current)] == [[], []]
    hide(submission=stood.release.submission, reason="leaked", by=world.curator)
    assert not standings.exists() and [differences(each) for each in (frozen, current)] == [[], []]


def test_inconsistent_rows_are_named(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    board = a_board(world, disclosure="ladder", scope="task")
    call_command("check_boards")
    assert "unchanged" in capsys.readouterr().out
    standing = Standing.objects.get(leaderboard=board, rank=1)
    Standing.objects.filter(pk=standing.pk).update(value=0.95)
    assert differences(board) == [f"standings system {standing.system_id}"]
    Standing.objects.filter(pk=standing.pk).update(value=standing.value)
    Score.objects.filter(run=standing.release.run, measure="accuracy", slice_key="").update(value=0.99)
    assert f"releases sequence {standing.release.sequence}" in differences(board)
    with pytest.raises(CommandError):
        call_command("check_boards")
