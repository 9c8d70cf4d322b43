"""Teams take their own submissions off the boards and put them back, if the organisers allow it."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import tokens
from leaderboard.boards.queries import board_of, board_state, by_primary
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import (
    AuditEntry,
    HiddenSubmission,
    Leaderboard,
    Membership,
    Phase,
    QuotaCharge,
    Release,
    State,
    User,
)
from leaderboard.submissions.actions import hide
from leaderboard.submissions.web import take_off as views
from tests.support.api_calls import ROOT, client_of, error_of, person
from tests.support.rows.board_rows import score, stand
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build

pytestmark = pytest.mark.django_db
PUBLIC = ["/benchmarks/tiny/test/", "/api/v1/benchmarks/tiny/phases/test/leaderboard/", "/benchmarks/tiny/feed.atom"]


def built() -> World:
    tiny = build()
    tiny.benchmark.organisers.add(tiny.curator)
    return tiny


world, _django_db_helper = shared_states(world=built)


def enter(world: World, name: str, value: float, **more: Any) -> Release:
    return stand(world, name, [score("accuracy", value)], **more)


def ranks() -> list[tuple[int | None, str, float | None]]:
    board = board_of(Phase.objects.select_related("benchmark__dataset", "split", "scorer").get())
    return [(row.rank, row.system, row.score("accuracy").value) for row in by_primary(board)]


def code_of(act: Any, **kwargs: Any) -> Code:
    with pytest.raises(Refused) as refused:
        act(**kwargs)
    return refused.value.code


def session_of(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def test_another_submission_represents_the_system_until_it_is_back(world: World) -> None:
    enter(world, "Engine", 0.25)
    best, only = enter(world, "Engine", 0.75), enter(world, "Loom", 0.5)
    charges = set(QuotaCharge.objects.values_list("refunded_at"))
    before = [Client().get(address).content for address in PUBLIC]
    hide.take_off(submission=best.submission, by=world.researcher)
    assert ranks() == [(1, "Loom", 0.5), (2, "Engine", 0.25)]
    hide.take_off(submission=only.submission, by=world.researcher)
    assert ranks() == [(1, "Engine", 0.25)]
    assert set(QuotaCharge.objects.values_list("refunded_at")) == charges and Release.objects.count() == 3
    for release in (best, only):
        assert hide.put_back(submission=release.submission, by=world.researcher)
        assert not hide.put_back(submission=release.submission, by=world.researcher)
    assert [Client().get(address).content for address in PUBLIC] == before
    acts = list(AuditEntry.objects.filter(subject=f"submission:{best.submission_id}").values_list("action", flat=True))
    assert acts == ["submission.put_back", "submission.taken_off"]


def test_a_ladder_still_compares_with_its_score(world: World) -> None:
    best = enter(world, "Engine", 0.75)
    board = Leaderboard.objects.get()
    hide.take_off(submission=best.submission, by=world.researcher)
    assert board_state.best_shown(board, "accuracy", team=best.submission.system.team_id) == 0.75


def test_organisers_and_team_hide_independently(world: World) -> None:
    submission = enter(world, "Engine", 0.75).submission
    hide.hide(submission=submission, reason="Leaked gold.", by=world.curator)
    hide.take_off(submission=submission, by=world.researcher)
    hide.put_back(submission=submission, by=world.researcher)
    assert ranks() == [], "the team cannot end what the organisers decided"
    hide.take_off(submission=submission, by=world.researcher)
    page = session_of(world.researcher).get(submission.get_absolute_url()).content.decode()
    assert "Leaked gold." in page and "Put it back" in page
    hide.unhide(submission=submission, by=world.curator)
    assert ranks() == [], "nor the organisers what the team decided"
    page = session_of(world.curator).get("/manage/benchmarks/tiny/hidden/").content.decode()
    assert "hidden by its team" in page and "Show again<" not in page
    hide.put_back(submission=submission, by=world.researcher)
    assert len(ranks()) == 1


def test_only_members_may_and_only_if_the_organisers_allow_it(world: World) -> None:
    submission = enter(world, "Engine", 0.75).submission
    for user in (world.curator, person("bob")):
        assert code_of(hide.take_off, submission=submission, by=user) is Code.NOT_A_MEMBER
        assert code_of(hide.put_back, submission=submission, by=user) is Code.NOT_A_MEMBER
    hide.take_off(submission=submission, by=world.researcher)
    client = session_of(world.curator)
    assert client.post("/manage/benchmarks/tiny/hidden/teams/", {"allowed": "no"}).status_code == 302
    other = enter(world, "Loom", 0.5).submission
    assert code_of(hide.take_off, submission=other, by=world.researcher) is Code.NOT_POSSIBLE
    page = session_of(world.researcher).get(other.get_absolute_url()).content.decode()
    assert "Take off the board" not in page
    assert hide.put_back(submission=submission, by=world.researcher), "which is always allowed"
    assert "changed whether teams may take" in client.get("/manage/benchmarks/tiny/audit-trail/").content.decode()
    client.post("/manage/benchmarks/tiny/hidden/teams/", {"allowed": "yes"})
    hide.take_off(submission=other, by=world.researcher)
    assert [name for _, name, _ in ranks()] == ["Engine"]


def test_a_membership_that_ends_meanwhile_is_no_error_of_the_server(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    submission = enter(world, "Engine", 0.75).submission
    hide.take_off(submission=submission, by=world.researcher)
    client = session_of(world.researcher)

    def ended(find: Any) -> Any:
        def found_before(*args: Any) -> Any:
            row = find(*args)
            Membership.objects.filter(user=world.researcher).delete()
            return row

        return found_before

    monkeypatch.setattr(views, "_own_or_404", ended(views._own_or_404))
    assert client.post(f"/submissions/{submission.pk}/put-back/").status_code == 302
    assert HiddenSubmission.objects.now().exists()


def test_not_in_a_sealed_phase_and_not_without_end(world: World) -> None:
    release = enter(world, "Engine", 0.75)
    phase = world.phase
    phase.disclosure, phase.closes_at = "sealed", timezone.now() + timedelta(days=1)
    phase.sealed_until = phase.closes_at
    phase.save()
    assert code_of(hide.take_off, submission=release.submission, by=world.researcher) is Code.NOT_POSSIBLE
    phase.disclosure, phase.sealed_until = "full", None
    phase.save()
    for _ in range(hide.MOST_A_DAY):
        hide.take_off(submission=release.submission, by=world.researcher)
        hide.put_back(submission=release.submission, by=world.researcher)
    assert code_of(hide.take_off, submission=release.submission, by=world.researcher) is Code.THROTTLED


def test_members_do_it_on_the_submissions_page(world: World) -> None:
    submission = enter(world, "Engine", 0.75).submission
    client, page = session_of(world.researcher), submission.get_absolute_url()
    assert "Take off the board" in client.get(page).content.decode()
    text = client.post(f"{page}take-off/", follow=True).content.decode()
    assert "Off the board" in text and "0.750" in text and ranks() == []
    assert session_of(person("bob")).post(f"{page}put-back/").status_code == 404
    assert "Off the board" not in client.post(f"{page}put-back/", follow=True).content.decode()
    assert len(ranks()) == 1 and HiddenSubmission.objects.get().unhidden_by == world.researcher


def test_members_do_it_by_the_api(world: World) -> None:
    submission = enter(world, "Engine", 0.75).submission
    client, address = client_of(world.researcher), f"{ROOT}/submissions/{submission.pk}/hidden/"
    assert client.delete(address).json()["hidden_by"] == "", "nothing to put back is no error"
    answer = client.post(address)
    assert (answer.status_code, answer.json()["hidden_by"], answer.json()["result"]) == (200, "team", None)
    assert ranks() == []
    hide.hide(submission=submission, reason="Leaked gold.", by=world.curator)
    assert client.delete(address).json()["hidden_by"] == "organisers"
    hide.unhide(submission=submission, by=world.curator)
    assert len(ranks()) == 1
    for user in (world.curator, person("bob")):
        assert client_of(user).post(address).status_code == client_of(user).delete(address).status_code == 404
    reading = {"Authorization": f"Token {tokens.issue(by=world.researcher, scope='read')[1]}"}
    assert error_of(Client().post(address, headers=reading))["code"] == "read_only_token"
    hide.set_teams_may_hide(benchmark=world.benchmark, allowed=False, by=world.curator)
    assert (client.post(address).status_code, len(ranks())) == (409, 1)


def test_a_large_file_is_withdrawn_while_it_waits(world: World) -> None:
    run = world.insert_run(state=State.QUEUED)
    submission, prediction = run.prediction.submission, run.prediction
    run.delete()
    prediction.state, prediction.finished_at = State.QUEUED, None
    prediction.save()
    client, page = session_of(world.researcher), submission.get_absolute_url()
    assert "the file is not scored" in client.get(page).content.decode()
    client.post(f"{page}withdraw/")
    prediction.refresh_from_db()
    assert (prediction.state, prediction.reason) == (State.CANCELLED, "withdrawn")
    assert "It was withdrawn" in client.get(page).content.decode()
