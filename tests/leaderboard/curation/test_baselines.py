"""Baselines are put on a phase by a button: the server computes them, and they are ordinary submissions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.test import Client

from evaluator.tasks.registry import TASKS
from leaderboard.accounts.actions import teams
from leaderboard.core.refusal import Code
from leaderboard.curation.actions import baselines
from leaderboard.datasets.actions import lifecycle, splits
from leaderboard.evaluation import sandbox_client
from leaderboard.models import (
    Benchmark,
    Phase,
    Prediction,
    QuotaCharge,
    Reason,
    Release,
    Run,
    Split,
    State,
    Submission,
    System,
    Team,
    User,
)
from leaderboard.scoring.actions import runs
from leaderboard.submissions.actions import validation
from leaderboard.submissions.queries.quotas import quota_of
from tests.support.api_calls import person
from tests.support.rows.gold_uploads import close_all, refusal, uploaded
from tests.support.rows.tiny_world import World, build, gold_lines
from tests.support.simultaneous_calls import together

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]
NAMES = [baseline.name for baseline in TASKS["fact-verification"].baselines]
WHERE = "/manage/benchmarks/tiny/phases/test/baselines/"


@pytest.fixture
def world() -> World:
    return build()


@pytest.fixture(autouse=True)
def _requests_end() -> Iterator[None]:
    yield
    close_all()


def put(world: World, **changes: Any) -> list[Submission]:
    return baselines.put(**{"phase": Phase.objects.get(), "by": world.curator, **changes})


def body(user: User | None, address: str) -> str:
    client = Client()
    if user is not None:
        client.force_login(user)
    return client.get(address).content.decode()


def compute_all() -> None:
    for prediction in Prediction.objects.filter(state=State.QUEUED):
        baselines.WORK.run(prediction.pk)
    for run in Run.objects.filter(state=State.QUEUED):
        runs.WORK.run(run.pk)


def states() -> dict[str, str]:
    rows = Prediction.objects.values_list("submission__system__name", "state")
    return dict(rows)


def test_each_baseline_of_the_task_is_on_the_board(world: World) -> None:
    made = put(world)
    assert [submission.system.name for submission in made] == NAMES
    page = body(world.curator, made[0].get_absolute_url())
    assert "The server will compute the predictions" in page and "validated in the background" not in page
    compute_all()
    # There is no public gold to train on.
    assert states() == {"majority": "done", "random": "done", "claim-only": "rejected", "evidence-only": "rejected"}
    rejected = Prediction.objects.filter(state=State.REJECTED).first()
    assert rejected is not None and "makes no predictions" in rejected.problems[0]["text"]
    majority = Release.objects.get(submission__system__name="majority")
    (accuracy,) = [score for score in majority.values if score["measure"] == "accuracy" and not score["slice"]]
    assert accuracy["value"] == 0.5, "two of four claims are supported"
    board = body(None, "/benchmarks/tiny/test/")
    assert "majority" in board and "Baselines of tiny" in board
    assert not Release.objects.filter(standings__rank__isnull=False).exists()


def test_they_use_no_quota(world: World) -> None:
    Phase.objects.update(quota_per_day=1, quota_everybody=1)
    assert len(put(world)) == len(NAMES) > 1
    compute_all()
    assert not QuotaCharge.objects.exists()
    assert quota_of(phase=Phase.objects.get(), team=world.system.team).left_today == 1


def test_a_baseline_sees_only_inputs_and_public_gold(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    train = splits.create_split(
        dataset=world.split.dataset, name="train", kind="train", gold_public=True, by=world.curator
    )
    gold = gold_lines().replace(b"REFUTES", b"SUPPORTS")
    splits.add_gold(split=train, file=uploaded(gold, "gold.jsonl"), reason="first", by=world.curator)
    lifecycle.publish_unaudited(split=train, by=world.curator)
    sent: list[dict[str, bytes]] = []
    ask = sandbox_client.baseline

    def recorded(given: Any, **named: Any) -> Any:
        sent.append({name: file.read() for name, file in given.items()})
        for file in given.values():
            file.seek(0)
        return ask(given, **named)

    monkeypatch.setattr(sandbox_client, "baseline", recorded)
    put(world)
    compute_all()
    with world.split.inputs.open("rb") as inputs:
        assert sent == [{"inputs": inputs.read(), "0": gold}] * len(NAMES)


def test_those_that_are_submitted_are_not_repeated_and_those_that_failed_are(world: World) -> None:
    put(world)
    assert put(world) == []
    compute_all()
    assert [submission.system.name for submission in put(world)] == ["claim-only", "evidence-only"]
    assert Team.objects.filter(name__startswith="Baselines of").count() == 1


def test_sealed_phases_score_them_later(world: World) -> None:
    Phase.objects.update(disclosure="sealed", sealed_until="2090-01-01T00:00Z", closes_at="2090-01-01T00:00Z")
    put(world)
    compute_all()
    assert not Run.objects.exists()
    assert set(baselines.submitted(Phase.objects.get())) == {"majority", "random"}


class TestRefusals:
    def test_only_those_who_manage_the_benchmark(self, world: World) -> None:
        assert refusal(put, world=world, by=world.researcher).code is Code.NOT_AN_ORGANISER

    def test_a_closed_phase(self, world: World) -> None:
        Phase.objects.update(opens_at="2090-01-01T00:00Z")
        assert refusal(put, world=world).code is Code.PHASE_CLOSED
        Benchmark.objects.update(state="draft")
        assert len(put(world)) == len(NAMES), "a draft is open to its organisers"

    def test_a_retired_split(self, world: World) -> None:
        lifecycle.retire(split=Split.objects.get(), reason="Old.", by=world.curator)
        assert refusal(put, world=world).code is Code.PHASE_CLOSED

    def test_a_phase_with_tracks_needs_one(self, world: World) -> None:
        Phase.objects.update(tracks=[{"name": "a", "title": "A", "description": ""}])
        assert refusal(put, world=world).code is Code.INVALID_TRACK
        assert {submission.track for submission in put(world, track="a")} == {"a"}

    def test_a_system_of_that_name_that_is_no_baseline(self, world: World) -> None:
        put(world)
        System.objects.filter(name="random").update(kind=System.Kind.ORGANISER)
        Submission.objects.filter(system__name="random").update(system=System.objects.get(name="majority"))
        assert refusal(put, world=world).code is Code.NAME_TAKEN


class TestTeam:
    def test_everybody_who_manages_the_benchmark_joins_and_submits_baselines_of_their_own(self, world: World) -> None:
        put(world)
        organiser = person("olga")
        world.benchmark.organisers.add(organiser)
        assert put(world, by=organiser) == []
        team = Team.objects.get(name="Baselines of tiny")
        assert {user.username for user in team.members.all()} == {"curator", "olga"}
        ours = world.submit(system=teams.find_system(team=team, name="Ours"), by=organiser)
        assert ours.system.kind == System.Kind.BASELINE
        assert "Ours" in body(organiser, WHERE)
        team.members.add(world.researcher)
        refused = refusal(world.submit, system=teams.find_system(team=team, name="Ours"))
        assert refused.code is Code.NOT_AN_ORGANISER

    def test_the_name_of_another_team_gets_a_number(self, world: World) -> None:
        teams.create(name="Baselines of tiny", by=world.curator, is_baselines=True)
        put(world)
        assert Benchmark.objects.get().baselines_team.name == "Baselines of tiny (2)"


class TestWork:
    def test_a_sandbox_error_is_retried_and_then_the_submission_has_failed(
        self, world: World, monkeypatch: pytest.MonkeyPatch, settings: Any
    ) -> None:
        def fail(*_: Any, **__: Any) -> None:
            raise sandbox_client.SandboxError("gone")

        monkeypatch.setattr(sandbox_client, "baseline", fail)
        prediction = put(world)[0].predictions.get()
        for _ in range(settings.MAX_ATTEMPTS):
            baselines.WORK.run(prediction.pk)
        prediction.refresh_from_db()
        assert (prediction.state, prediction.reason) == (State.FAILED, Reason.SANDBOX)

    def test_a_baseline_that_crashes_is_not_retried(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        crashed = sandbox_client.Answer("exit", {}, b"", 0.1, 0.1, {})
        monkeypatch.setattr(sandbox_client, "baseline", lambda *_, **__: crashed)
        prediction = put(world)[0].predictions.get()
        baselines.WORK.run(prediction.pk)
        prediction.refresh_from_db()
        assert (prediction.state, prediction.attempt, prediction.file) == (State.FAILED, 1, "")

    def test_it_is_no_work_of_validation(self, world: World) -> None:
        prediction = put(world)[0].predictions.get()
        validation.WORK.run(prediction.pk)
        prediction.refresh_from_db()
        assert (prediction.state, prediction.attempt) == (State.QUEUED, 0)


def test_from_the_button_to_the_page(world: World) -> None:
    client = Client()
    client.force_login(world.curator)
    page = client.get(WHERE).content.decode()
    assert f"Submit {len(NAMES)} baselines" in page and all(name in page for name in NAMES)
    assert client.post(WHERE).status_code == 302
    page = client.get(WHERE).content.decode()
    assert "Submit" not in page.split("<main")[1].split("To put a baseline of your own")[0].replace("Submission", "")
    Phase.objects.update(closes_at="2020-01-01T00:00Z")
    assert client.post(WHERE).status_code == 409


@pytest.mark.django_db(transaction=True)
def test_one_of_several_simultaneous_presses_submits() -> None:
    world = build()

    def press() -> Callable[[], object]:
        phase = Phase.objects.select_related("benchmark", "split__dataset").get()
        return lambda: len(baselines.put(phase=phase, by=world.curator))

    answers = together([press() for _ in range(3)])
    assert sorted(answers) == [0, 0, len(NAMES)], answers
    assert Submission.objects.count() == len(NAMES)
    assert Team.objects.filter(name__startswith="Baselines of").count() == 1
