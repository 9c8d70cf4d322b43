"""Large files are received and charged first, and validated in the background before they are scored."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from evaluator.errors import SandboxTimeoutError
from leaderboard.core.refusal import Code, Refused
from leaderboard.evaluation import sandbox_client
from leaderboard.models import (
    AuditEntry,
    Final,
    Phase,
    Prediction,
    QuotaCharge,
    Reason,
    Run,
    Score,
    Split,
    State,
    Submission,
)
from leaderboard.scoring.actions import runs, sealed_phases
from leaderboard.submissions.actions import validation
from leaderboard.submissions.queries import progress
from tests.support.rows.tiny_world import LABELS, World, build, uploaded

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sandbox")]
INVALID = b'{"id": "a1", "predicted_label": "MAYBE"}\n'


@pytest.fixture
def world(settings) -> World:
    settings.VALIDATE_NOW_BYTES = 0
    return build(quota_per_day=1)


def state_of(submission: Submission) -> progress.Progress:
    return progress.of(progress.with_related(Submission.objects.all()).get(pk=submission.pk))


def validate() -> Prediction:
    validation.WORK.run(Prediction.objects.get().pk)
    return Prediction.objects.get()


def test_a_file_is_large_by_its_size_and_a_compressed_one_by_ten_times_its_size(settings) -> None:
    settings.VALIDATE_NOW_BYTES = 1000
    assert not validation.is_large(1000, packed=False) and validation.is_large(1001, packed=False)
    assert not validation.is_large(100, packed=True) and validation.is_large(101, packed=True)


def test_a_valid_file_is_received_validated_and_scored(world: World, settings) -> None:
    submission = world.submit()
    waiting = state_of(submission)
    assert (waiting.state, waiting.stage, waiting.queue_position) == (State.QUEUED, "validating", 0)
    assert not Run.objects.exists() and waiting.file_is_shown
    with pytest.raises(Refused) as refused:
        world.submit()
    assert refused.value.code is Code.QUOTA_EXCEEDED
    prediction = validate()
    assert (prediction.state, prediction.n_lines, prediction.sequence) == (State.DONE, len(LABELS), 1)
    assert state_of(submission).stage == ""
    runs.WORK.run(Run.objects.get().pk)
    assert state_of(submission).state == State.DONE
    scores = list(Score.objects.order_by("pk").values_list("measure", "slice_key", "value"))

    QuotaCharge.objects.all().delete()
    settings.VALIDATE_NOW_BYTES = 1_000_000
    Score.objects.all().delete()
    world.submit()
    runs.WORK.run(Run.objects.get(state=State.QUEUED).pk)
    assert scores == list(Score.objects.order_by("pk").values_list("measure", "slice_key", "value")) != []


def test_an_invalid_file_is_rejected_with_its_problems_refunded_and_deleted(
    world: World, client: Client, django_capture_on_commit_callbacks
) -> None:
    submission = world.submit(file=uploaded(INVALID))
    storage, name = (file := Prediction.objects.get().file).storage, file.name
    assert storage.exists(name)
    with django_capture_on_commit_callbacks(execute=True):
        prediction = validate()
    assert (prediction.state, prediction.reason, prediction.file.name) == (State.REJECTED, Reason.BAD_PREDICTIONS, "")
    assert not storage.exists(name) and not Run.objects.exists()
    assert QuotaCharge.objects.get().refunded_at is not None
    assert AuditEntry.objects.get(action="submission.refused").actor == world.researcher
    client.force_login(world.researcher)
    page = client.get(submission.get_absolute_url()).content.decode()
    assert "MAYBE" in page and "does not count against your quota" in page
    answer = client.get(f"/api/v1/submissions/{submission.pk}/").json()
    assert answer["is_over"] and answer["refunded"] and "MAYBE" in answer["problems"][0]["text"]
    assert client.get(f"/api/v1/submissions/{submission.pk}/predictions/").status_code == 404


def test_a_file_for_inputs_that_were_replaced_meanwhile_is_rejected_and_refunded(world: World) -> None:
    world.submit()
    Split.objects.update(inputs_sha256="0" * 64)
    prediction = validate()
    assert prediction.state == State.REJECTED and "were replaced" in prediction.problems[0]["text"]
    assert QuotaCharge.objects.get().refunded_at is not None and not Run.objects.exists()


def test_a_busy_machine_never_rejects_a_file(world: World, settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(sandbox: object, execution: object) -> None:
        raise SandboxTimeoutError("the sandbox had no time")

    world.submit()
    with monkeypatch.context() as patched:
        patched.setattr(sandbox_client.ProcessSandbox, "run", run)
        for _ in range(settings.MAX_ATTEMPTS + 2):
            assert validate().state == State.QUEUED
    assert validate().state == State.DONE


def test_a_user_whose_refused_files_have_used_up_the_sandbox_may_not_send_a_large_one(world: World, settings) -> None:
    settings.REFUSED_SECONDS = 0
    AuditEntry.record("submission.refused", world.phase, by=world.researcher, reason="x", cpu_seconds=1.0)
    with pytest.raises(Refused) as refused:
        world.submit()
    assert refused.value.code is Code.THROTTLED and not Submission.objects.exists()


def test_the_page_says_what_happens(world: World, client: Client) -> None:
    submission = world.submit()
    client.force_login(world.researcher)
    assert "validated in the background" in client.get(submission.get_absolute_url()).content.decode()
    Prediction.objects.update(state=State.RUNNING, lease_until="2030-01-01T00:00Z")
    assert "Validating the file" in client.get(submission.get_absolute_url()).content.decode()


def test_a_validation_that_crashes_is_not_the_files_fault(
    world: World, settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.submit()
    crashed = sandbox_client.Answer(Reason.EXIT, {}, b"", 0.0, 0.0, {}, error_id="id-1")
    monkeypatch.setattr(sandbox_client, "validate", lambda **_: crashed)
    for _ in range(settings.MAX_ATTEMPTS):
        prediction = validate()
    assert (prediction.state, prediction.reason, prediction.error_id) == (State.FAILED, Reason.EXIT, "id-1")
    assert QuotaCharge.objects.get().refunded_at is not None

    settings.VALIDATE_NOW_BYTES = 1_000_000
    with pytest.raises(Refused) as refused:
        world.submit()
    assert refused.value.code is Code.SANDBOX_UNAVAILABLE
    assert not AuditEntry.objects.filter(action="submission.refused").exists()


class TestSealedPhases:
    @pytest.fixture
    def phase(self, world: World) -> Phase:
        later = timezone.now() + timedelta(hours=1)
        Phase.objects.update(disclosure="sealed", closes_at=later, sealed_until=later, quota_per_day=5)
        world.phase.refresh_from_db()
        return world.phase

    def unseal(self, phase: Phase) -> bool:
        past = timezone.now() - timedelta(hours=1)
        Phase.objects.update(closes_at=past, sealed_until=past)
        return sealed_phases.unseal(phase=phase)

    def test_a_chosen_final_that_is_rejected_can_be_chosen_again(self, world: World, phase: Phase) -> None:
        good, bad = world.submit(), world.submit(file=uploaded(INVALID))
        sealed_phases.choose(submission=bad, by=world.researcher)
        for prediction in Prediction.objects.all():
            validation.WORK.run(prediction.pk)
        assert not Final.objects.exists()
        assert self.unseal(phase) and Final.objects.get().submission == good

    def test_the_opening_waits_for_the_validation_of_files_received_in_time(self, world: World, phase: Phase) -> None:
        world.submit()
        validate()
        latest = world.submit({**LABELS, "a1": "REFUTES"})
        assert not self.unseal(phase) and not Final.objects.exists()
        validation.WORK.run(latest.predictions.get().pk)
        assert sealed_phases.sweep() == 1 and Final.objects.get().submission == latest
