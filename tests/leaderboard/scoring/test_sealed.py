"""Sealed phases: nothing is scored before the date, then the finals, once; the sweep opens them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import psycopg
import pytest
from django.db import IntegrityError, OperationalError, connection, transaction
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import teams
from leaderboard.containers.actions import images, run_system
from leaderboard.core.refusal import Code, Refused
from leaderboard.models import (
    AuditEntry,
    Extension,
    Final,
    Leaderboard,
    Phase,
    Prediction,
    QuotaCharge,
    Reason,
    Release,
    Run,
    Score,
    State,
    Submission,
    System,
)
from leaderboard.scoring.actions import sealed_phases
from leaderboard.submissions.actions import validation
from leaderboard.submissions.actions.hide import hide, unhide
from leaderboard.submissions.queries.progress import Revealed, of, with_related
from leaderboard.work_queue.lease import Lease
from tests.support.api_calls import person
from tests.support.rows import container_rows
from tests.support.rows.many_groups import (
    a_phase,
    a_split,
    answers,
    correct,
    gold_of,
    labels_of,
    primary,
    score_all,
    send,
    soon,
)
from tests.support.rows.tiny_world import World, build
from tests.support.workers import sweeps

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
LABELS = labels_of(40)


@pytest.fixture
def world() -> World:
    return build()


@pytest.fixture
def phase(world: World) -> Phase:
    return a_phase(world, a_split(world, LABELS), disclosure="sealed", sealed_until=soon())


def pass_closing_date(phase: Phase, ago: timedelta = timedelta(hours=1)) -> None:
    past = timezone.now() - ago
    Phase.objects.filter(pk=phase.pk).update(closes_at=past, sealed_until=past)


def during_validation(monkeypatch: pytest.MonkeyPatch, event: Callable[[], object]) -> None:
    """Let something happen while an uploaded file is validated in its request."""
    validate = validation.validate_now

    def validate_now(**arguments: Any) -> tuple[int, list[str]]:
        event()
        return validate(**arguments)

    monkeypatch.setattr(validation, "validate_now", validate_now)


def rivals() -> System:
    grace = person("grace")
    return teams.system(team=teams.create(name="Compilers", by=grace), name="A-0", by=grace)


def api_submission(submission: Submission) -> Revealed:
    return of(with_related(Submission.objects.filter(pk=submission.pk)).get()).revealed


def test_nothing_is_scored_or_shown_before_the_date(world: World, phase: Phase, client: Client) -> None:
    addresses = [
        f"/benchmarks/tiny/{phase.slug}/",
        f"/benchmarks/tiny/{phase.slug}/by/kind/",
        f"/api/v1/benchmarks/tiny/phases/{phase.slug}/leaderboard/?slices=kind",
        f"/api/v1/benchmarks/tiny/phases/{phase.slug}/leaderboard.csv",
    ]
    before = {address: (client.get(address).content, client.get(address)["ETag"]) for address in addresses}
    submission = send(world, phase, answers(LABELS, 4))
    sweeps.sweep()
    assert not Run.objects.exists() and not Leaderboard.objects.exists() and not Score.objects.exists()
    assert {address: (client.get(address).content, client.get(address)["ETag"]) for address in addresses} == before
    client.force_login(world.researcher)
    page = client.get(submission.get_absolute_url()).content.decode()
    assert "Received and valid" in page and "Scored" not in page
    answer = client.get(f"/api/v1/submissions/{submission.pk}/").json()
    assert (answer["revealed"], answer["state"], answer["is_over"], answer["receipt"]) == ("sealed", "done", True, {})
    refused = client.get(f"/api/v1/submissions/{submission.pk}/scores/")
    assert (refused.status_code, refused.json()["code"]) == (409, "not_ready")
    assert (
        f"sealed: finals are scored when it is unsealed, {phase.sealed_until:%Y-%m-%d %H:%M} UTC"
        in refused.content.decode()
    )
    assert client.get(f"{submission.get_absolute_url()}receipt.json").status_code == 404
    assert "sealed" in client.get("/me/submissions/").content.decode()


def test_a_final_hidden_before_the_opening_is_scored_and_not_shown(world: World, phase: Phase) -> None:
    submission = send(world, phase, answers(LABELS, 4))
    hide(submission=submission, reason="leaked", by=world.curator)
    pass_closing_date(phase)
    sweeps.sweep()
    score_all()
    assert api_submission(submission) is Revealed.SCORES and primary(submission) == 0.9
    standings = Leaderboard.objects.get(phase=phase).standings
    assert not standings.exists()
    unhide(submission=submission, by=world.curator)
    assert (standings.get().value, standings.get().rank) == (0.9, 1)


def test_the_sweep_opens_it_and_scores_the_finals_once(world: World, phase: Phase, client: Client) -> None:
    other = rivals()
    first, second = (send(world, phase, answers(LABELS, wrong)) for wrong in (4, 10))
    rival_submissions = [
        world.submit(answers(LABELS, wrong), phase=phase, system=other, by=other.team.members.get()) for wrong in (8, 6)
    ]
    sealed_phases.choose(submission=first, by=world.researcher)
    pass_closing_date(phase)
    sweeps.sweep()
    sweeps.sweep()
    assert Run.objects.count() == 2, "the chosen one, and the latest of the team that chose none"
    score_all()
    assert [primary(each) for each in (first, second, *rival_submissions)] == [0.9, None, None, 0.85]
    client.force_login(world.researcher)
    assert "not one of its team's finals" in client.get(f"/api/v1/submissions/{second.pk}/scores/").json()["message"]
    assert [api_submission(each) for each in (first, second, *rival_submissions)] == [
        Revealed.SCORES,
        Revealed.NOT_FINAL,
        Revealed.NOT_FINAL,
        Revealed.SCORES,
    ]
    finals = dict(Final.objects.values_list("submission", "chosen_by"))
    assert finals == {first.pk: world.researcher.pk, rival_submissions[1].pk: None}
    board = Leaderboard.objects.get()
    assert [each.rank for each in board.standings.order_by("rank")] == [1, 2]
    release = Release.objects.get(submission=first)
    assert release.policy == "sealed" and release.values[0]["low"] is not None, "opened, all of it is told"
    assert AuditEntry.objects.filter(action="phase.unsealed").count() == 1


def test_opening_early_does_nothing(world: World, phase: Phase) -> None:
    send(world, phase, answers(LABELS, 4))
    assert sealed_phases.sweep() == 0 and not sealed_phases.unseal(phase=phase)
    assert Phase.objects.get(pk=phase.pk).is_sealed


def test_a_file_that_is_validated_at_the_date_is_scored(
    world: World, phase: Phase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sweep_at_the_date() -> None:
        pass_closing_date(phase, ago=timedelta(seconds=1))
        assert sealed_phases.sweep() == 0

    during_validation(monkeypatch, sweep_at_the_date)
    submission = send(world, phase, answers(LABELS, 4))
    pass_closing_date(phase)
    assert sealed_phases.sweep() == 1
    score_all()
    assert primary(submission) == 0.9


def test_a_phase_that_closed_long_before_the_date_is_opened_at_the_date(world: World, phase: Phase) -> None:
    at = timezone.now()
    second, day = timedelta(seconds=1), timedelta(days=1)
    Phase.objects.filter(pk=phase.pk).update(closes_at=at - day, sealed_until=at - second)
    extension = Extension.objects.create(
        phase=phase,
        team=world.system.team,
        before=at - day,
        closes_at=at - second,
        reason="ill",
        created_by=world.curator,
        created_at=at,
    )
    assert not sealed_phases.unseal(phase=phase), "the team's last file may still be validated"
    extension.delete()
    assert sealed_phases.unseal(phase=phase)


def test_a_submission_that_is_too_late_for_the_opening_is_refused_and_not_charged(
    world: World, phase: Phase, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unseal() -> None:
        pass_closing_date(phase)
        assert sealed_phases.sweep() == 1

    during_validation(monkeypatch, unseal)
    with pytest.raises(Refused, match="was unsealed") as refused:
        send(world, phase, answers(LABELS, 4))
    assert refused.value.code is Code.PHASE_CLOSED
    assert not Submission.objects.exists() and not QuotaCharge.objects.exists()


def test_reading_a_page_after_the_date_opens_nothing(world: World, phase: Phase, client: Client) -> None:
    send(world, phase, answers(LABELS, 4))
    pass_closing_date(phase)
    assert client.get(f"/benchmarks/tiny/{phase.slug}/").status_code == 200
    assert Phase.objects.get(pk=phase.pk).is_sealed and not Run.objects.exists()


def test_gold_corrected_before_the_opening_is_used(world: World, phase: Phase) -> None:
    submission = send(world, phase, answers(LABELS, 4))
    correct(phase.split, world, gold_of(answers(LABELS, 4)))
    assert not Run.objects.exists()
    pass_closing_date(phase)
    sealed_phases.sweep()
    score_all()
    assert primary(submission) == 1.0
    correct(phase.split, world, gold_of(answers(LABELS, 8)))
    score_all()
    assert primary(submission) == 0.9, "finals alone are scored again"
    assert Leaderboard.objects.get(state="current").gold_version.number == 3


def test_a_final_whose_predictions_are_lost_does_not_stand_in_for_the_default(world: World, phase: Phase) -> None:
    good, lost = (send(world, phase, answers(LABELS, wrong)) for wrong in (4, 10))
    sealed_phases.choose(submission=lost, by=world.researcher)
    lost.predictions.update(state=State.REJECTED)
    pass_closing_date(phase)
    sealed_phases.sweep()
    assert [run.prediction.submission for run in Run.objects.all()] == [good]


def test_each_baseline_is_opened(world: World, phase: Phase) -> None:
    for name, wrong in (("Majority", 20), ("Random", 18)):
        system = teams.system(team=world.system.team, name=name, by=world.researcher)
        System.objects.filter(pk=system.pk).update(kind=System.Kind.BASELINE)
        send(world, phase, answers(LABELS, wrong), system=system)
    own = [send(world, phase, answers(LABELS, wrong)) for wrong in (9, 4)]
    pass_closing_date(phase)
    sealed_phases.sweep()
    chosen = set(Final.objects.values_list("submission__system__name", flat=True))
    assert chosen == {"Majority", "Random", "Bernoulli"}
    assert Final.objects.filter(submission=own[1]).exists() and not Final.objects.filter(submission=own[0]).exists()


def test_a_final_is_chosen_and_released_on_a_page(world: World, phase: Phase, client: Client) -> None:
    first, second = (send(world, phase, answers(LABELS, wrong)) for wrong in (4, 10))
    client.force_login(world.researcher)
    address = f"/benchmarks/tiny/{phase.slug}/finals/"
    page = client.get(address).content.decode()
    assert page.count("Make final") == 2 and "if you choose none" in page
    assert client.post(f"/submissions/{first.pk}/final/").status_code == 302
    assert list(Final.objects.values_list("submission", flat=True)) == [first.pk]
    page = client.get(address).content.decode()
    assert "Remove<" in page and "Make final" not in page, "one final a team"
    refused = client.post(f"/submissions/{second.pk}/final/")
    assert refused.status_code == 429 and "remove one first" in refused.content.decode().replace("\n", " ")
    assert client.post(f"/submissions/{first.pk}/final/give-back/").status_code == 302
    assert not Final.objects.exists()


def test_the_page_of_finals_computes_the_defaults_of_the_users_teams_alone(
    world: World, phase: Phase, client: Client
) -> None:
    other = rivals()
    own = send(world, phase, answers(LABELS, 4))
    world.submit(answers(LABELS, 6), phase=phase, system=other, by=other.team.members.get())
    client.force_login(world.researcher)
    assert client.get(f"/benchmarks/tiny/{phase.slug}/finals/").context["by_default"] == {own.pk}


def test_only_the_team_chooses_before_the_date(world: World, phase: Phase) -> None:
    submission = send(world, phase, answers(LABELS, 4))
    with pytest.raises(Refused) as refused:
        sealed_phases.choose(submission=submission, by=person("mallory"))
    assert refused.value.code is Code.NOT_A_MEMBER
    Run.objects.all().delete()
    submission.predictions.update(state=State.REJECTED)
    with pytest.raises(Refused, match="no predictions that can be scored"):
        sealed_phases.choose(submission=submission, by=world.researcher)
    submission.predictions.update(state=State.DONE)
    pass_closing_date(phase)
    with pytest.raises(Refused, match="could be changed until"):
        sealed_phases.choose(submission=submission, by=world.researcher)
    with pytest.raises(Refused, match="closed"):
        send(world, Phase.objects.get(pk=phase.pk), answers(LABELS, 3))


@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has one lock for all writers")
def test_a_choice_waits_for_a_rejection_that_has_begun(world: World, phase: Phase) -> None:
    submission = send(world, phase, answers(LABELS, 4))
    with psycopg.connect(**connection.get_connection_params() | {"cursor_factory": psycopg.Cursor}) as other:
        other.execute("UPDATE leaderboard_prediction SET state = 'rejected'")
        with pytest.raises(OperationalError, match="lock timeout"), transaction.atomic():
            connection.cursor().execute("SET LOCAL lock_timeout = 100")
            sealed_phases.choose(submission=submission, by=world.researcher)
    with pytest.raises(Refused, match="no predictions that can be scored"):
        sealed_phases.choose(submission=submission, by=world.researcher)


@pytest.mark.parametrize(
    "lose",
    [
        lambda lease: run_system.reject(lease, reason=Reason.SYSTEM_EXIT, problems=[]),
        lambda lease: run_system.WORK.retry_or_fail(lease, reason=Reason.ENGINE, final=True),
        lambda lease: images.cancel(submission=lease.row.submission, by=lease.row.submission.submitted_by),
    ],
    ids=["rejected", "failed", "withdrawn"],
)
def test_a_container_that_is_lost_is_no_final(
    world: World, phase: Phase, lose: Callable[[Lease[Prediction]], object]
) -> None:
    submission = send(world, phase, answers(LABELS, 4))
    world.phase = phase
    prediction = container_rows.insert(world, state=State.RUNNING, attempt=1)
    sealed_phases.choose(submission=prediction.submission, by=world.researcher)
    lose(Lease(prediction, attempt=1))
    assert not Final.objects.exists()
    pass_closing_date(phase)
    assert sealed_phases.unseal(phase=phase) and Final.objects.get().submission == submission


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sealed_until": None}, "expected the date when it is unsealed"),
        ({"closes_at": soon(3), "sealed_until": soon(2)}, "while it still accepts submissions"),
        ({"disclosure": "full", "sealed_until": soon(2)}, "Only a sealed phase"),
        ({"disclosure": "ladder", "scope": "team"}, "also set a limit for all teams together"),
        ({"disclosure": "full", "subset": "private"}, "not divided into public and private ones yet"),
    ],
)
def test_an_inconsistent_policy_is_refused(world: World, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=message):
        a_phase(world, world.split, **{"disclosure": "sealed", **changes})


def test_constraints_keep_a_sealed_phase_closed(phase: Phase) -> None:
    for change in ({"sealed_until": None}, {"closes_at": None}, {"closes_at": soon(9)}, {"disclosure": "full"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Phase.objects.filter(pk=phase.pk).update(**change)
