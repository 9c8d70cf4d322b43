"""Dry runs as background work: which baselines are scored, on which data and when, with no effects beyond their own
rows."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from evaluator.sandbox.contract import Result, Verdict
from evaluator.tasks.registry import TASKS
from leaderboard.accounts.actions import teams
from leaderboard.core.refusal import Code
from leaderboard.curation.actions import (
    request_dry_run,
    run_dry_run,
    submit_baseline,
)
from leaderboard.datasets.actions import splits
from leaderboard.evaluation import sandbox_client
from leaderboard.models import (
    AuditEntry,
    Benchmark,
    DryRun,
    Leaderboard,
    Phase,
    QuotaCharge,
    Release,
    Run,
    Split,
    State,
    Submission,
    System,
    Team,
)
from leaderboard.scoring.actions import runs
from leaderboard.submissions.actions import submit
from tests.support.api_calls import person
from tests.support.rows import tiny_world
from tests.support.rows.gold_uploads import close_all, files_of, refusal, uploaded
from tests.support.rows.tiny_world import DRAFT, LABELS, World, build, gold_lines, prediction_lines
from tests.support.strict_html import read

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]


@pytest.fixture
def world() -> World:
    new_world = build()
    Benchmark.objects.update(state="draft")
    new_world.benchmark.refresh_from_db()
    return new_world


@pytest.fixture(autouse=True)
def _requests_end() -> Iterator[None]:
    yield
    close_all()


def started(world: World, phase: Phase | None = None) -> list[DryRun]:
    return request_dry_run.begin(split=world.split, phase=phase, by=world.curator)


def added(world: World, labels: dict[str, str] = LABELS, name: str = "Ours") -> DryRun:
    file = tiny_world.uploaded(prediction_lines(labels))
    try:
        return request_dry_run.add(split=world.split, phase=None, file=file, name=name, by=world.curator)
    finally:
        file.close()


def after(row: DryRun) -> DryRun:
    row.refresh_from_db()
    return row


def accuracy(row: DryRun) -> float:
    (score,) = [
        run_score
        for run_score in after(row).result["scores"]
        if run_score["measure"] == "accuracy" and not run_score["slice"]
    ]
    return float(score["value"])


def train_split(world: World) -> Split:
    """Public gold in which every claim is supported."""
    train = splits.create_split(
        dataset=world.split.dataset, name="train", kind="train", gold_public=True, by=world.curator
    )
    gold = gold_lines().replace(b"REFUTES", b"SUPPORTS")
    splits.add_gold(split=train, file=uploaded(gold, "gold.jsonl"), reason="first", by=world.curator)
    return train


def test_each_baseline_of_the_task_is_scored(world: World) -> None:
    rows = started(world)
    assert [row.name for row in rows] == [baseline.name for baseline in TASKS["fact-verification"].baselines]
    for row in rows:
        run_dry_run.WORK.run(row.pk)
    states = {row.name: after(row).state for row in rows}
    # There is no data to train on.
    rejected = {"claim-only": "rejected", "evidence-only": "rejected"}
    assert states == {"majority": "done", "random": "done", **rejected}
    assert accuracy(rows[0]) == 0.5, "two of four claims are supported"
    assert rows[0].result["n_groups"] == 1 and rows[0].result["primary"] == "accuracy"


def test_a_dry_run_has_no_other_effects(world: World) -> None:
    rows = [*started(world), added(world)]
    for row in rows:
        run_dry_run.WORK.run(row.pk)
    assert accuracy(rows[-1]) == 1.0
    for model in (Submission, QuotaCharge, Run, Release, Leaderboard):
        assert not model.objects.exists(), model


def test_a_baseline_sees_only_inputs_and_public_gold(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    train = train_split(world)
    inputs_seen: list[Any] = []
    ask = sandbox_client._ask

    def watched(request: Any, descriptors: Any, seconds: float, **kwargs: Any) -> sandbox_client.Answer:
        if request.job == "baseline":
            inputs_seen.append({name: os.pread(file, 1 << 30, 0) for name, file in descriptors.items()})
        return ask(request, descriptors, seconds, **kwargs)

    monkeypatch.setattr(sandbox_client, "_ask", watched)
    rows = started(world)
    for row in rows:
        run_dry_run.WORK.run(row.pk)
    public = {"inputs": world.split.inputs.open().read(), "0": train.current_gold.file.open().read()}  # type: ignore[union-attr]
    assert inputs_seen == [public] * len(rows)
    assert not any(world.gold.file.open().read() in kwargs.values() for kwargs in inputs_seen)
    assert {after(row).state for row in rows} == {"done"}


def test_existing_dry_runs_are_not_repeated(world: World) -> None:
    first = started(world)
    assert started(world) == []
    for row in first:
        run_dry_run.WORK.run(row.pk)
    new_rows = started(world)
    # A baseline that had no data to train on may be able to answer once there is public gold.
    assert [row.name for row in new_rows] == ["claim-only", "evidence-only"]
    assert DryRun.objects.count() == len(first)
    assert AuditEntry.objects.filter(action="dry_run.begun").count() == 2


def test_it_is_scored_as_in_a_phase(world: World) -> None:
    other = {"max_evidence": "none"}
    phase = Phase.objects.create(benchmark=world.benchmark, slug="other", title="O", split=world.split, options=other)
    rows, plain = started(world, phase), started(world)
    assert {(row.scored_as, row.options["max_evidence"]) for row in rows} == {("other", "none")}
    assert {(row.scored_as, *row.options) for row in plain} == {("",)}
    divided = Phase.objects.create(benchmark=world.benchmark, slug="h", title="H", split=world.split, subset="public")
    assert "not divided into public and private ones" in refusal(started, world=world, phase=divided).message


class TestFormerSettings:
    """A phase's options or groups were edited after a dry run, or a phase of another benchmark has the same slug."""

    WHERE = "/manage/benchmarks/tiny/splits/test/dry-run/"

    @pytest.fixture
    def scored(self, world: World) -> DryRun:
        row = started(world, world.phase)[0]
        run_dry_run.WORK.run(row.pk)
        Phase.objects.update(options={"max_evidence": "none"})
        world.phase.refresh_from_db()
        return after(row)

    def test_such_scores_are_not_shown_as_those_of_the_phase(self, world: World, scored: DryRun) -> None:
        client = Client()
        client.force_login(world.curator)
        page = client.get(self.WHERE, {"as": "test"}).content.decode()
        assert "other settings" in page and "0.500" not in page
        assert "Score missing baselines" in page and "<strong>majority</strong>" in page
        assert read(page).faults == []

    def test_such_dry_runs_are_replaced(self, world: World, scored: DryRun) -> None:
        rows = started(world, world.phase)
        assert "majority" in [row.name for row in rows]
        assert {(row.scored_as, row.options["max_evidence"]) for row in DryRun.objects.all()} == {("test", "none")}
        assert started(world, world.phase) == []

    def test_uploaded_files_stay_until_they_are_removed(self, world: World) -> None:
        row = added(world)
        DryRun.objects.update(options={"max_evidence": "none"})
        assert refusal(added, world=world).code is Code.NAME_TAKEN
        request_dry_run.remove(row=row, by=world.curator)
        assert added(world).options == {}

    def test_such_a_baseline_cannot_be_submitted(self, world: World, scored: DryRun) -> None:
        assert not submit_baseline.is_eligible(scored, world.phase)
        Phase.objects.update(options={}, subset="public")
        assert not submit_baseline.is_eligible(scored, Phase.objects.get())
        Phase.objects.update(subset="")
        assert submit_baseline.is_eligible(scored, Phase.objects.get())

    def test_the_dry_run_of_another_benchmark_is_not_taken_for_it(self, world: World, scored: DryRun) -> None:
        dataset = world.split.dataset
        other = Benchmark.objects.create(slug="other", title="Other", task=dataset.task, dataset=dataset)
        same_slug = Phase.objects.create(benchmark=other, slug="test", title="T", split=world.split, subset="")
        assert submit_baseline.is_eligible(scored, same_slug), "same settings"
        assert not submit_baseline.is_eligible(scored, world.phase)
        assert "majority" in [row.name for row in started(world, world.phase)]


class TestWhen:
    def test_not_once_a_phase_accepts_submissions(self, world: World) -> None:
        Benchmark.objects.update(state="public")
        refused = refusal(started, world=world)
        assert (refused.code, "has opened" in refused.message) == (Code.NOT_READY, True)
        assert refusal(added, world=world).code is Code.NOT_READY
        Phase.objects.update(opens_at=timezone.now() + timedelta(hours=1))
        assert started(world)

    def test_a_draft_split_of_a_public_benchmark_can_have_dry_runs(self, world: World) -> None:
        Benchmark.objects.update(state="public")
        Split.objects.update(**DRAFT)
        world.split.refresh_from_db()
        assert started(world)

    def test_gold_and_the_right_to_manage_are_required(self, world: World) -> None:
        blank = splits.create_split(
            dataset=world.split.dataset, name="blank", kind="test", gold_public=False, by=world.curator
        )
        without_gold = {"split": blank, "phase": None, "by": world.curator}
        assert refusal(request_dry_run.begin, **without_gold).code is Code.NOT_READY
        by_researcher = {"split": world.split, "phase": None, "by": world.researcher}
        assert refusal(request_dry_run.begin, **by_researcher).code is Code.NOT_AN_ORGANISER
        row = added(world)
        assert refusal(request_dry_run.remove, row=row, by=world.researcher).code is Code.NOT_AN_ORGANISER


class TestFiles:
    def test_an_invalid_file_leaves_nothing(self, world: World) -> None:
        refused = refusal(added, world=world, labels={**LABELS, "a1": "MAYBE"})
        assert refused.code is Code.INVALID_PREDICTIONS
        assert [problem["line"] for problem in refused.problems] == [1]
        assert not DryRun.objects.exists()

    def test_invalid_files_use_up_the_processor_time_of_refused_uploads(self, world: World, settings: Any) -> None:
        settings.REFUSED_SECONDS = 0
        assert refusal(added, world=world, labels={**LABELS, "a1": "MAYBE"}).code is Code.INVALID_PREDICTIONS
        assert refusal(added, world=world).code is Code.THROTTLED
        assert not DryRun.objects.exists()

    def test_a_file_is_not_at_fault_if_the_inputs_cannot_be_read(self, world: World) -> None:
        Path(world.split.inputs.path).write_bytes(b"x")
        refused = refusal(added, world=world)
        assert refused.code is Code.SANDBOX_UNAVAILABLE and "inputs cannot be read" in refused.message
        assert not AuditEntry.objects.filter(action="dry_run.refused").exists()

    def test_a_file_that_takes_too_long_to_check_is_refused(
        self, world: World, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        late = Result(verdict=Verdict.TIME, cpu_seconds=20.0)
        monkeypatch.setattr(sandbox_client.ProcessSandbox, "run", lambda *_: late)
        refused = refusal(added, world=world)
        assert refused.code is Code.INVALID_PREDICTIONS and "20 s of processor time" in refused.message
        assert AuditEntry.objects.get(action="dry_run.refused").detail == {"reason": "time", "cpu_seconds": 20.0}

    def test_a_name_is_unique_and_free_again_after_removal(self, world: World) -> None:
        row = added(world)
        files_before = files_of("predictions")
        assert refusal(added, world=world).code is Code.NAME_TAKEN
        assert files_of("predictions") == files_before
        assert refusal(added, world=world, name=" ").code is Code.INVALID_NAME
        request_dry_run.remove(row=row, by=world.curator)
        assert added(world).name == "Ours"

    @pytest.mark.django_db(transaction=True)
    def test_its_file_is_deleted_with_it(self, world: World) -> None:
        row = added(world)
        file = row.file
        request_dry_run.remove(row=row, by=world.curator)
        assert not file.storage.exists(str(file.name))


class TestFaults:
    def test_a_sandbox_error_is_retried_a_few_times(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        def dies(*_: Any, **__: Any) -> sandbox_client.Answer:
            raise sandbox_client.SandboxError("gone")

        row = started(world)[0]
        with monkeypatch.context() as broken:
            broken.setattr(sandbox_client, "score", dies)
            run_dry_run.WORK.run(row.pk)
            assert after(row).state == State.QUEUED
        run_dry_run.WORK.run(row.pk)
        assert (after(row).state, row.attempt) == (State.DONE, 2)
        monkeypatch.setattr(sandbox_client, "baseline", dies)
        other = DryRun.objects.get(name="random")
        for _ in range(settings.MAX_ATTEMPTS + 1):
            run_dry_run.WORK.run(other.pk)
        assert (after(other).state, other.reason) == (State.FAILED, "sandbox")

    def test_the_sweep_reclaims_the_lease_of_a_killed_worker(self, world: World) -> None:
        row = started(world)[0]
        past = timezone.now() - timedelta(minutes=5)
        DryRun.objects.filter(pk=row.pk).update(state=State.RUNNING, attempt=1, lease_until=past, enqueued_at=past)
        assert run_dry_run.WORK.sweep() >= 1
        assert after(row).state == State.QUEUED
        run_dry_run.WORK.run(row.pk)
        assert after(row).state == State.DONE

    def test_the_result_of_a_removed_dry_run_is_discarded(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        row = started(world)[0]
        score = sandbox_client.score

        def removed_meanwhile(**kwargs: Any) -> sandbox_client.Answer:
            request_dry_run.remove(row=row, by=world.curator)
            return score(**kwargs)

        monkeypatch.setattr(sandbox_client, "score", removed_meanwhile)
        run_dry_run.WORK.run(row.pk)
        assert not DryRun.objects.filter(pk=row.pk).exists()

    def test_replaced_data_end_a_dry_run(self, world: World) -> None:
        row = started(world)[0]
        Split.objects.update(inputs_sha256="0" * 64)
        run_dry_run.WORK.run(row.pk)
        assert (after(row).state, row.reason) == (State.FAILED, "superseded")

    def test_an_inconsistent_report_is_not_stored(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        score = sandbox_client.score

        def wrong(**kwargs: Any) -> sandbox_client.Answer:
            answer = score(**kwargs)
            answer.report["result"]["scores"][0]["value"] = 7.0
            return answer

        monkeypatch.setattr(sandbox_client, "score", wrong)
        row = started(world)[0]
        run_dry_run.WORK.run(row.pk)
        assert (after(row).state, row.reason, row.result) == (State.FAILED, "bad_report", {})

    def test_runs_have_priority(self, world: World) -> None:
        row, run = started(world)[0], world.insert_run()
        run_dry_run.WORK.take(row.pk)
        run.refresh_from_db()
        assert (run.state, after(row).state) == (State.DONE, State.QUEUED)


class TestThePage:
    WHERE = "/manage/benchmarks/tiny/splits/test/dry-run/"

    def client(self, world: World) -> Client:
        client = Client()
        client.force_login(world.curator)
        return client

    def test_from_the_button_to_the_numbers(self, world: World) -> None:
        client = self.client(world)
        assert "Score the baselines" in client.get(self.WHERE).content.decode()
        assert client.post(f"{self.WHERE}begin/").status_code == 302
        state = client.get(f"{self.WHERE}state/")
        assert "0 of 4 baselines are scored" in state.content.decode() and "HX-Refresh" not in state
        for row in DryRun.objects.all():
            run_dry_run.WORK.run(row.pk)
        assert client.get(f"{self.WHERE}state/")["HX-Refresh"] == "true"
        page = client.get(self.WHERE).content.decode()
        assert "origin=original" in page and "no predictions" in page and "needs public gold to train on" in page
        assert read(page).faults == []

    def test_a_refused_file_is_shown_with_its_problems(self, world: World) -> None:
        client = self.client(world)
        file = SimpleUploadedFile("p.jsonl", prediction_lines({**LABELS, "a1": "MAYBE"}))
        answer = client.post(f"{self.WHERE}add/", {"name": "Ours", "file": file})
        assert answer.status_code == 422
        assert "MAYBE" in answer.content.decode()
        file = SimpleUploadedFile("p.jsonl", prediction_lines())
        assert client.post(f"{self.WHERE}add/", {"name": "<b>Ours</b>", "file": file}).status_code == 302
        run_dry_run.WORK.run(DryRun.objects.get().pk)
        page = client.get(self.WHERE).content.decode()
        assert "&lt;b&gt;Ours" in page and "1.000" in page

    def test_dry_runs_from_before_a_correction_are_listed(self, world: World) -> None:
        client = self.client(world)
        row = added(world, {**LABELS, "a1": "REFUTES"}, name="Earlier")
        run_dry_run.WORK.run(row.pk)
        assert "gold=" not in client.get(self.WHERE).content.decode(), "with one version there is no choice"
        turned = {name: "REFUTES" if label == "SUPPORTS" else "SUPPORTS" for name, label in LABELS.items()}
        corrected = uploaded(gold_lines(turned), "gold.jsonl")
        splits.add_gold(split=world.split, file=corrected, reason="better", by=world.curator)
        page = client.get(self.WHERE).content.decode()
        assert "Earlier" not in page and f'href="{self.WHERE}?gold=1"' in page and "Score the baselines" in page
        before = client.get(f"{self.WHERE}?gold=1").content.decode()
        assert "Earlier" in before and "0.750" in before and "These scores are for gold version 1" in before
        # A version that is no longer in force has no form.
        assert "Score the baselines" not in before and f"{self.WHERE}add/" not in before
        assert read(before).faults == []
        for number in ("7", "x", "\N{SUPERSCRIPT TWO}", ""):
            assert client.get(self.WHERE, {"gold": number}).status_code == 404
        removed = client.post(f"{self.WHERE}{row.pk}/remove/")
        assert removed["Location"] == f"{self.WHERE}?gold=1"

    def test_only_managers_see_scores(self, world: World) -> None:
        for row in [*started(world), added(world, name="tungsten-canary")]:
            run_dry_run.WORK.run(row.pk)
        Benchmark.objects.update(state="public")
        anonymous = Client()
        anonymous.force_login(world.researcher)
        for client in (Client(), anonymous):
            for where in ("/", "/benchmarks/tiny/", "/benchmarks/tiny/test/", "/benchmarks/tiny/splits/test/"):
                body = client.get(where).content
                assert b"canary" not in body and b"majority" not in body
            for where in ("/api/v1/benchmarks/tiny/", "/api/v1/benchmarks/tiny/phases/test/leaderboard/"):
                assert b"canary" not in client.get(where).content
            assert client.get(self.WHERE).status_code in (302, 404)


class TestOnABoard:
    """A baseline from a dry run, submitted in the ordinary way once the phase has opened."""

    WHERE = "/manage/benchmarks/tiny/splits/test/dry-run/"

    @pytest.fixture
    def scored(self, world: World) -> list[DryRun]:
        rows = [*started(world), added(world, {**LABELS, "a1": "REFUTES"})]
        for row in rows:
            run_dry_run.WORK.run(row.pk)
        Benchmark.objects.update(state="public")
        world.phase.refresh_from_db()
        world.phase.benchmark.refresh_from_db()
        return [after(row) for row in rows]

    def by_name(self, rows: list[DryRun], name: str) -> DryRun:
        return next(row for row in rows if row.name == name)

    def submit_to_board(self, world: World, row: DryRun) -> Submission:
        return submit_baseline.submit(row=row, phase=world.phase, by=world.curator)

    def test_it_is_an_ordinary_submission_with_the_same_file_and_score(
        self, world: World, scored: list[DryRun]
    ) -> None:
        for row in (self.by_name(scored, "majority"), self.by_name(scored, "Ours")):
            submission = self.submit_to_board(world, row)
            prediction = submission.predictions.get()
            assert prediction.sha256 == row.result["predictions_sha256"]
            runs.WORK.run(prediction.runs.get().pk)
            board_score = submission.releases.get().run.scores.get(measure="accuracy", slice_key="")
            dry_run_score = next(
                standing
                for standing in row.result["scores"]
                if standing["measure"] == "accuracy" and not standing["slice"]
            )
            assert (board_score.value, board_score.low, board_score.high) == (
                dry_run_score["value"],
                dry_run_score["low"],
                dry_run_score["high"],
            )
        assert QuotaCharge.objects.filter(team__name="Baselines of tiny").count() == 2
        board = Leaderboard.objects.get(state="current")
        assert {(standing.system.name, standing.system.kind, standing.rank) for standing in board.standings.all()} == {
            ("majority", "baseline", None),
            ("Ours", "baseline", None),
        }

    def test_it_is_submitted_once_unless_it_failed(self, world: World, scored: list[DryRun]) -> None:
        row = self.by_name(scored, "majority")
        submission = self.submit_to_board(world, row)
        refused = refusal(submit_baseline.submit, row=row, phase=world.phase, by=world.curator)
        assert refused.code is Code.ALREADY_EXISTS and QuotaCharge.objects.count() == 1
        Run.objects.filter(prediction__submission=submission).update(state=State.FAILED, finished_at=timezone.now())
        assert self.submit_to_board(world, row).pk != submission.pk

    def test_a_refusal_leaves_neither_system_nor_charge(self, world: World, scored: list[DryRun]) -> None:
        row = self.by_name(scored, "majority")
        Phase.objects.update(opens_at=timezone.now() + timedelta(days=1))
        world.phase.refresh_from_db()
        refused = refusal(submit_baseline.submit, row=row, phase=world.phase, by=world.curator)
        assert refused.code is Code.PHASE_CLOSED
        Phase.objects.update(opens_at=None)
        world.phase.refresh_from_db()
        refused = refusal(submit_baseline.submit, row=row, phase=world.phase, by=world.researcher)
        assert refused.code is Code.NOT_AN_ORGANISER
        row.result["predictions_sha256"] = "0" * 64
        refused = refusal(submit_baseline.submit, row=row, phase=world.phase, by=world.curator)
        assert (refused.code, "no longer makes the predictions" in refused.message) == (Code.NOT_READY, True)
        unfit = next(rejected for rejected in scored if rejected.state == State.REJECTED)
        refused = refusal(submit_baseline.submit, row=unfit, phase=world.phase, by=world.curator)
        assert refused.code is Code.NOT_READY
        assert not System.objects.filter(kind="baseline").exists() and not QuotaCharge.objects.exists()

    def test_other_people_cannot_take_the_teams_name(self, world: World, scored: list[DryRun]) -> None:
        for by in (world.researcher, world.curator):
            assert refusal(teams.create, name="Baselines of tiny", by=by).code is Code.INVALID_NAME
        existing_team = Team.objects.create(name="Baselines of tiny")  # from before such names were reserved
        existing_team.members.add(world.researcher)
        submission = self.submit_to_board(world, self.by_name(scored, "majority"))
        assert submission.system.team.name == "Baselines of tiny (2)"
        assert not existing_team.systems.exists() and not submission.system.team.members.contains(world.researcher)

    def test_everybody_who_manages_the_benchmark_can_submit_them(self, world: World, scored: list[DryRun]) -> None:
        first = self.submit_to_board(world, self.by_name(scored, "majority"))
        olive = person("olive")
        world.benchmark.organisers.add(olive)
        second = submit_baseline.submit(row=self.by_name(scored, "Ours"), phase=world.phase, by=olive)
        assert first.system.team == second.system.team
        assert teams.of(olive) != first.system.team
        # A former manager submits nothing under that name, in any way.
        world.benchmark.organisers.remove(olive)
        file = uploaded(prediction_lines(LABELS), "ours.jsonl")
        refused = refusal(submit.submit, phase=world.phase, system=second.system, file=file, by=olive)
        assert refused.code is Code.NOT_AN_ORGANISER and Submission.objects.count() == 2

    def test_a_phase_with_other_scoring_is_refused(self, world: World, scored: list[DryRun]) -> None:
        other = Phase.objects.create(benchmark=world.benchmark, slug="other", title="Other", split=world.split)
        row = self.by_name(scored, "majority")
        DryRun.objects.filter(pk=row.pk).update(scored_as="other")
        refused = refusal(submit_baseline.submit, row=after(row), phase=world.phase, by=world.curator)
        assert refused.code is Code.NOT_READY
        assert submit_baseline.submit(row=row, phase=other, by=world.curator).phase == other

    def test_from_the_button_to_the_board(self, world: World, scored: list[DryRun]) -> None:
        client = Client()
        client.force_login(world.curator)
        page = client.get(self.WHERE).content.decode()
        assert page.count("Put it on the board") == sum(row.state == State.DONE for row in scored)
        assert read(page).faults == []
        row = self.by_name(scored, "majority")
        answer = client.post(f"{self.WHERE}{row.pk}/submit/", {"to": "test"}, follow=True)
        assert "majority was submitted to" in answer.content.decode()
        runs.WORK.run(Run.objects.get().pk)
        board = Client().get("/benchmarks/tiny/test/").content.decode()
        assert "majority" in board and "baseline</span>" in board and "Baselines of tiny" in board
        page = client.get(self.WHERE).content.decode()
        assert "submitted 20" in page and page.count("Put it on the board") == 2
        second_press = client.post(f"{self.WHERE}{row.pk}/submit/", {"to": "test"})
        assert second_press.status_code == 409 and "was already submitted to" in second_press.content.decode()
