"""A ladder: what it reveals of an answer, to whom and in which order, and what stays hidden."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from leaderboard.accounts.actions import teams
from leaderboard.models import Leaderboard, Phase, QuotaCharge, Reason, Release, Run, Score, Standing, State, System
from leaderboard.scoring.actions import releases, runs
from leaderboard.scoring.verification.rebuild_board import differences
from leaderboard.submissions.queries.progress import Revealed, of, with_related
from tests.support.api_calls import fixed_text, person
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
)
from tests.support.rows.tiny_world import World, build

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
LABELS = labels_of(100)
"""A hundred groups: a step is a tenth; of a kind 25: a fifth."""


@pytest.fixture
def world() -> World:
    return build()


@pytest.fixture
def split(world: World) -> Any:
    return a_split(world, LABELS)


def values(release: Release) -> dict[tuple[str, str], Any]:
    return {(score["measure"], json.dumps(score["slice"])): score["value"] for score in release.values}


def progress_of(submission: Any) -> Any:
    return of(with_related(type(submission).objects.filter(pk=submission.pk)).get())


def test_a_first_answer_is_shown_on_the_grid_of_its_groups(world: World, split: Any) -> None:
    phase = a_phase(world, split)
    submission = send(world, phase, answers(LABELS, 27))
    score_all()
    release = Release.objects.get(submission=submission)
    shown_values = values(release)
    assert shown_values["accuracy", "{}"] == 0.7, "73 of 100 are right"
    # The first 27 are wrong: 7 of 25 each of city, film and person, and 6 of river. Twenty-five groups: steps of 0.2.
    assert {name: shown_values["accuracy", f'{{"kind": "{name}"}}'] for name in ("city", "person", "river")} == {
        "city": 0.6,
        "person": 0.6,
        "river": 0.6,
    }
    true = Score.objects.get(run=release.run, measure="accuracy", slice_key='{"kind":"river"}')
    assert (true.value, true.n_groups) == (0.76, 25)
    assert all(score["low"] is None and score["high"] is None for score in release.values)
    assert Standing.objects.get().value == 0.7 and (release.policy, release.warnings) == ("ladder", [])


def test_an_improvement_below_a_step_reveals_nothing(world: World, split: Any) -> None:
    phase = a_phase(world, split)
    for wrong in (27, 21, 50, 20, 20, 5):
        send(world, phase, answers(LABELS, wrong))
    score_all()
    shown_values = [
        (values(released) or {}).get(("accuracy", "{}")) for released in Release.objects.order_by("sequence")
    ]
    assert shown_values == [0.7, None, None, 0.8, None, 0.9]
    assert [bool(released.values) for released in Release.objects.order_by("sequence")] == [
        True,
        False,
        False,
        True,
        False,
        True,
    ]
    assert Standing.objects.get().value == 0.9


@pytest.mark.parametrize("last_first", [False, True])
def test_the_order_of_completion_has_no_effect(world: World, split: Any, last_first: bool) -> None:
    phase = a_phase(world, split)
    submissions = [send(world, phase, answers(LABELS, wrong)) for wrong in (40, 5, 30, 20, 8)]
    score_all(last_first=last_first)
    assert [primary(submission) for submission in submissions] == [0.6, 0.9, None, None, None]
    sequence = Release.objects.order_by("sequence").values_list("submission", flat=True)
    assert list(sequence) == [submission.pk for submission in submissions]


def test_a_submission_that_waits_for_an_earlier_one_is_not_shown_as_scored(world: World, split: Any) -> None:
    phase = a_phase(world, split)
    first, second = (send(world, phase, answers(LABELS, wrong)) for wrong in (40, 5))
    runs.WORK.run(Run.objects.get(prediction__submission=second).pk)
    progress = progress_of(second)
    assert Run.objects.get(prediction__submission=second).state == State.DONE
    assert (progress.state, progress.is_over, progress.receipt, progress.revealed) == (
        State.RUNNING,
        False,
        {},
        Revealed.NOTHING,
    )
    assert not Release.objects.exists() and not Standing.objects.exists()
    runs.WORK.run(Run.objects.get(prediction__submission=first).pk)
    assert [primary(first), primary(second)] == [0.6, 0.9]
    assert progress_of(second).is_over


def test_a_server_failure_delays_no_other_submission(
    world: World, split: Any, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    phase = a_phase(world, split)
    first, second = (send(world, phase, answers(LABELS, wrong)) for wrong in (40, 5))
    runs.WORK.run(Run.objects.get(prediction__submission=second).pk)
    settings.MAX_ATTEMPTS = 1
    claim = runs.WORK.claim(Run.objects.get(prediction__submission=first).pk)
    assert claim is not None
    runs.WORK.retry_or_fail(claim, reason=Reason.INTERNAL)
    assert (primary(first), primary(second)) == (None, 0.9)
    assert QuotaCharge.objects.get(submission=first).refunded_at is not None


def test_the_sweep_releases_submissions_that_no_longer_wait(world: World, split: Any) -> None:
    phase = a_phase(world, split)
    first, second = (send(world, phase, answers(LABELS, wrong)) for wrong in (40, 5))
    runs.WORK.run(Run.objects.get(prediction__submission=second).pk)
    assert releases.sweep() == 0
    Run.objects.filter(prediction__submission=first).update(state=State.CANCELLED, finished_at=timezone.now())
    assert releases.sweep() == 1 and primary(second) == 0.9


@pytest.mark.parametrize(("scope", "expected"), [("team", [0.8, 0.7, None, 0.8]), ("task", [0.8, None, None, None])])
def test_scope(world: World, split: Any, scope: str, expected: list[float | None]) -> None:
    phase = a_phase(world, split, scope=scope, quota_everybody=10)
    grace = person("grace")
    other = teams.system(team=teams.create(name="Compilers", by=grace), name="A-0", by=grace)
    submissions = [
        send(world, phase, answers(LABELS, 20)),
        world.submit(answers(LABELS, 30), phase=phase, system=other, by=grace),
        send(world, phase, answers(LABELS, 15)),
        world.submit(answers(LABELS, 13), phase=phase, system=other, by=grace),
    ]
    score_all()
    assert [primary(submission) for submission in submissions] == expected


def test_the_first_answers_that_show_scores_are_shown_in_detail(world: World, split: Any) -> None:
    phase = a_phase(world, split)
    Phase.objects.filter(pk=phase.pk).update(detailed_answers=2)
    phase.refresh_from_db()
    submissions = [send(world, phase, answers(LABELS, wrong)) for wrong in (50, 50, 50, 30, 10)]
    score_all()
    shown = [values(release) for release in Release.objects.filter(submission__in=submissions).order_by("sequence")]
    assert [len(row) > 1 for row in shown] == [True, False, False, True, False]
    assert shown[1] == shown[2] == {} and shown[4] == {("accuracy", "{}"): 0.9}
    assert not differences(Leaderboard.objects.get(phase=phase))


@pytest.mark.parametrize(
    ("exact", "expected"), [(False, [0.2, 0.9, None, 0.5, None, 0.7]), (True, [0.2, 0.9, 0.7, 0.5, None, None])]
)
def test_the_weakest_baseline_is_the_first_step_but_not_where_baselines_were_promised_not_to_count(
    world: World, split: Any, exact: bool, expected: list[float | None]
) -> None:
    phase = a_phase(world, split, exact_scores=exact)
    baseline = teams.system(team=world.system.team, name="Best", by=world.researcher)
    System.objects.filter(pk=baseline.pk).update(kind=System.Kind.BASELINE)
    submissions = [
        send(world, phase, answers(LABELS, 80)),
        send(world, phase, answers(LABELS, 3), system=baseline),
        send(world, phase, answers(LABELS, 25)),
        send(world, phase, answers(LABELS, 50), system=baseline),
        send(world, phase, answers(LABELS, 45)),
        send(world, phase, answers(LABELS, 25)),
    ]
    score_all()
    assert [primary(submission) for submission in submissions] == expected
    assert not differences(Leaderboard.objects.get(phase=phase))


def test_a_corrected_gold_starts_the_ladder_anew_in_order_of_receipt(world: World, split: Any) -> None:
    phase = a_phase(world, split)
    submissions = [send(world, phase, answers(LABELS, wrong)) for wrong in (40, 30, 35)]
    score_all()
    before = list(Release.objects.order_by("sequence").values_list("values", flat=True))
    corrected = answers(LABELS, 36)
    correct(split, world, gold_of(corrected))
    preparing = phase.leaderboards.get(state=Leaderboard.State.PREPARING)
    score_all(last_first=True)
    preparing.refresh_from_db()
    assert preparing.state == Leaderboard.State.CURRENT
    assert [primary(submission) for submission in submissions] == [0.9, None, None], (
        "96, 94 and 99 of 100 are right by the corrected gold"
    )
    after = Release.objects.order_by("sequence")
    assert [submission.submission_id for submission in after[3:]] == [submission.pk for submission in submissions]
    assert list(after.values_list("values", flat=True))[:3] == before


def test_a_failed_run_of_a_preparing_board_is_waited_for(world: World, split: Any) -> None:
    phase = a_phase(world, split)
    for wrong in (40, 30):
        send(world, phase, answers(LABELS, wrong))
    score_all()
    correct(split, world, gold_of(answers(LABELS, 36)))
    preparing = phase.leaderboards.get(state=Leaderboard.State.PREPARING)
    first = Run.objects.filter(gold_version=preparing.gold_version).order_by("queued_at")[0]
    Run.objects.filter(pk=first.pk).update(state=State.FAILED, finished_at=timezone.now())
    score_all()
    assert not Release.objects.filter(run__gold_version=preparing.gold_version).exists()


def test_an_answer_without_improvement_is_visible_nowhere(world: World, split: Any, client: Client) -> None:
    phase = a_phase(world, split)
    send(world, phase, answers(LABELS, 27))
    score_all()
    addresses = [
        f"/benchmarks/tiny/{phase.slug}/",
        f"/benchmarks/tiny/{phase.slug}/by/kind/",
        f"/api/v1/benchmarks/tiny/phases/{phase.slug}/leaderboard/?slices=kind",
        f"/api/v1/benchmarks/tiny/phases/{phase.slug}/leaderboard.csv?slices=kind",
        f"/api/v1/benchmarks/tiny/phases/{phase.slug}/leaderboard/comparisons/",
    ]
    before = {address: (client.get(address).content, client.get(address)["ETag"]) for address in addresses}
    second = send(world, phase, answers(LABELS, 23))
    score_all()
    assert {address: (client.get(address).content, client.get(address)["ETag"]) for address in addresses} == before
    client.force_login(world.researcher)
    page = fixed_text(client.get(second.get_absolute_url()).content)
    assert "0.77" not in page and "Score not shown" in page
    body = client.get(f"/api/v1/submissions/{second.pk}/").json()
    assert (body["revealed"], body["state"], body["warnings"]) == ("no_improvement", "done", [])
    assert client.get(f"/api/v1/submissions/{second.pk}/scores/").json()["scores"] == []
    receipt = client.get(f"{second.get_absolute_url()}receipt.json").json()
    assert receipt["scores"] == [] and "0.77" not in fixed_text(json.dumps(receipt))
