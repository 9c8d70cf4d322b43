"""Each kind of background work uses the one state machine, with its own rows, queue and hooks."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db import OperationalError
from django.db.models import Model
from django.utils import timezone

import leaderboard
from evaluator.errors import SandboxTimeoutError
from leaderboard import jobs
from leaderboard.comparisons.actions import rank_ranges
from leaderboard.containers.actions import engine, run_scorer, run_system
from leaderboard.evaluation import sandbox_client
from leaderboard.models import (
    ArchiveExport,
    ArchiveImport,
    Correction,
    Generation,
    GoldUpload,
    HeadToHead,
    Leaderboard,
    PlotRendering,
    Prediction,
    QuotaCharge,
    Ranking,
    Reason,
    SimilarityCheck,
    SplitAudit,
    State,
)
from leaderboard.operations import run_again
from leaderboard.plots.actions import pictures
from leaderboard.scoring.actions import runs
from leaderboard.work_queue import enqueue, work
from leaderboard.work_queue.lease import LeaseLostError
from leaderboard.work_queue.work import Urgency, Work
from tests.support import custom_scorers
from tests.support.rows import container_rows
from tests.support.rows.module_rows import shared_states
from tests.support.rows.tiny_world import World, build
from tests.support.workers import sweeps

pytestmark = pytest.mark.django_db
KINDS = [part for part in jobs.SWEEPS if isinstance(part, Work)]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
Sent = list[tuple[str, str, str]]


def board(world: World) -> Leaderboard:
    return Leaderboard.objects.create(
        phase=world.phase, gold_version=world.gold, task_version=1, state=Leaderboard.State.CURRENT
    )


def run_by_scorer(world: World, at: datetime) -> Model:
    custom_scorers.scores_by(world, custom_scorers.row(world))
    return world.insert_run(scorer=world.phase.scorer, enqueued_at=at)


def unvalidated(world: World, at: datetime) -> Model:
    prediction = world.insert_run(at=at).prediction
    prediction.runs.all().delete()
    Prediction.objects.filter(pk=prediction.pk).update(state=State.QUEUED, finished_at=None, enqueued_at=at)
    return prediction


def uncomputed(world: World, at: datetime) -> Model:
    prediction = unvalidated(world, at)
    Prediction.objects.filter(pk=prediction.pk).update(file="", sha256="")
    QuotaCharge.objects.all().delete()
    prediction.refresh_from_db()
    return prediction


def head_to_head(world: World, at: datetime) -> Model:
    a, b = sorted((world.insert_run(at=at), world.insert_run(at=at)), key=lambda run: run.pk)
    return HeadToHead.objects.create(leaderboard=board(world), a=a, b=b, queued_at=at, enqueued_at=at)


def correction(world: World, at: datetime) -> Model:
    fields = {"name": "gold.jsonl", "sha256": "0" * 64, "bytes": 1, "inputs_sha256": "0" * 64}
    return Correction.objects.create(
        split=world.split, base=world.gold, queued_at=at, enqueued_at=at, expires_at=timezone.now(), **fields
    )


ROWS: dict[str, Callable[[World, datetime], Model]] = {
    "validate": unvalidated,
    "score": lambda world, at: world.insert_run(enqueued_at=at),
    "run_scorer": run_by_scorer,
    "predict": lambda world, at: container_rows.insert(world, enqueued_at=at),
    "compare": lambda world, at: Ranking.objects.create(leaderboard=board(world), changes=1, enqueued_at=at),
    "head_to_head": head_to_head,
    "detect_near_duplicates": lambda world, at: SimilarityCheck.objects.create(
        prediction=world.insert_run().prediction, phase=world.phase, queued_at=at, enqueued_at=at
    ),
    "render_plots": lambda world, at: PlotRendering.objects.create(
        leaderboard=board(world), revision=0, queued_at=at, enqueued_at=at
    ),
    "audit_split": lambda world, at: SplitAudit.objects.create(gold=world.gold, queued_at=at, enqueued_at=at),
    "generate": lambda world, at: Generation.objects.create(
        dataset=world.split.dataset, generator="split", version=1, seed=1, salt="salt", queued_at=at, enqueued_at=at
    ),
    "baseline": uncomputed,
    "export_archive": lambda world, at: ArchiveExport.objects.create(
        benchmark=world.benchmark, requested_by=world.curator, queued_at=at, enqueued_at=at
    ),
    "import_archive": lambda world, at: ArchiveImport.objects.create(
        name="x.zip", sha256="0" * 64, bytes=1, head={}, by=world.curator, at=at, queued_at=at, enqueued_at=at
    ),
    "diff_gold": correction,
    "check_gold": lambda world, at: GoldUpload.objects.create(
        split=world.split,
        name="gold.jsonl",
        sha256="0" * 64,
        bytes=1,
        created_by=world.curator,
        queued_at=at,
        enqueued_at=at,
    ),
}
"""A queued row of each kind, enqueued at a time."""

QUEUES = {"predict": "systems", "run_scorer": "scorers"}


world, _django_db_helper = shared_states(world=build)


@pytest.fixture
def sent_messages(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """Messages to workers, recorded immediately instead of after a commit."""
    messages: Sent = []
    monkeypatch.setattr(enqueue, "_send", lambda *message: messages.append(message))
    monkeypatch.setattr("django.db.transaction.on_commit", lambda function, **_: function())
    monkeypatch.setattr(run_scorer.WORK, "has_workers", lambda: True)
    return messages


def key_of(kind: Work, row: Any) -> str:
    return str(getattr(row, kind.key))


def after(row: Any) -> Any:
    row.refresh_from_db()
    return row


def let_lease_end(row: Any) -> None:
    type(row)._default_manager.filter(pk=row.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def columns(row: Any) -> dict[str, Any]:
    return type(row)._default_manager.filter(pk=row.pk).values().get()


def is_queued(kind: Work, row: Any) -> bool:
    return bool(kind.rows.filter(kind.columns.queued(), pk=row.pk).exists())


def test_each_kind_has_a_row_and_a_task_of_its_name() -> None:
    assert [kind.name for kind in KINDS] == list(dict.fromkeys(kind.name for kind in KINDS))
    assert {kind.name for kind in KINDS} == set(ROWS)
    tasks = {name.removeprefix("leaderboard.jobs.") for name in jobs.app.tasks if name.startswith("leaderboard.")}
    assert tasks == set(ROWS) | {"deliver", "report"}


@each_kind
def test_only_one_of_two_workers_claims_a_row(world: World, kind: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    row = ROWS[kind.name](world, timezone.now())
    between: list[Any] = []

    def claimed_meanwhile() -> Any:
        """Another worker claims the row after this one has read it and before it writes."""
        with monkeypatch.context() as undone:
            undone.setattr(work, "lease_end", lease_end)
            between.append(kind.claim(key_of(kind, row)))
        return lease_end()

    lease_end = work.lease_end
    monkeypatch.setattr(work, "lease_end", claimed_meanwhile)
    assert kind.claim(key_of(kind, row)) is None
    (lease,) = between
    assert lease is not None and (lease.row, lease.attempt) == (row, 1)
    monkeypatch.setattr(work, "lease_end", lease_end)
    assert kind.claim(key_of(kind, row)) is None, "it is not queued any more"


@each_kind
def test_work_of_silent_workers_is_requeued_and_finally_fails(
    world: World, kind: Work, sent_messages: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = ROWS[kind.name](world, timezone.now())
    sent_messages.clear()
    message = (f"leaderboard.jobs.{kind.name}", key_of(kind, row), QUEUES.get(kind.name, "scoring"))
    for attempt in range(1, settings.MAX_ATTEMPTS + 1):
        lease = kind.claim(key_of(kind, row))
        assert lease is not None and lease.attempt == attempt
        assert kind.sweep() == 0 and sent_messages == [], "its lease has not ended"
        let_lease_end(row)
        kind.sweep()
        assert after(row).reason == Reason.LOST and row.lease_until is None
        if attempt < settings.MAX_ATTEMPTS:
            assert is_queued(kind, row) and [one for one in sent_messages if one[0] == message[0]] == [message]
            sent_messages.clear()
    assert not is_queued(kind, row) and message not in sent_messages
    assert kind.claim(key_of(kind, row)) is None and kind.sweep() == 0
    if kind is rank_ranges.WORK:
        assert row.failures == settings.MAX_ATTEMPTS
    else:
        assert row.state == State.FAILED and row.finished_at is not None
    # Submissions are refunded; nothing else was charged.
    charges = QuotaCharge.objects.filter(refunded_at__isnull=False)
    assert charges.exists() == (kind.name in ("validate", "score", "run_scorer", "predict"))


def test_a_locked_row_keeps_no_other_from_being_taken_back(
    world: World, sent_messages: Sent, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A frozen host holds the lock of a phase, for which a row has to wait that fails for good."""

    def locked(row: Any) -> None:
        raise OperationalError("canceling statement due to lock timeout")

    monkeypatch.setattr(runs.WORK, "lock", locked)
    at = timezone.now() - timedelta(seconds=1)
    last, first = (world.insert_run(state=State.RUNNING, lease_until=at, attempt=n) for n in (settings.MAX_ATTEMPTS, 1))
    sent_messages.clear()
    assert runs.WORK.sweep() == 1 and [key for _, key, _ in sent_messages] == [str(first.pk)]
    assert (after(last).state, after(first).state) == (State.RUNNING, State.QUEUED)
    assert "lease_not_taken_back" in caplog.text
    monkeypatch.undo()
    assert runs.WORK.sweep() == 1 and after(last).state == State.FAILED


@each_kind
def test_a_lost_lease_writes_nothing(world: World, kind: Work, sent_messages: Sent) -> None:
    row = ROWS[kind.name](world, timezone.now())
    late_lease = kind.claim(key_of(kind, row))
    assert late_lease is not None
    let_lease_end(row)
    kind.sweep()
    second = kind.claim(key_of(kind, row))
    assert second is not None
    sent_messages.clear()
    before = columns(row)
    assert not late_lease.renew()
    with pytest.raises(LeaseLostError):
        late_lease.write(reason=Reason.TIME, lease_until=None)
    for final in (False, True):
        assert not kind.retry_or_fail(late_lease, reason=Reason.SANDBOX, final=final)
    assert columns(row) == before and sent_messages == []
    assert second.renew() and columns(row)["lease_until"] > before["lease_until"]


@each_kind
def test_a_server_error_is_retried_and_finally_fails(
    world: World, kind: Work, sent_messages: Sent, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(lease: Any) -> None:
        attempts.append(lease.attempt)
        raise RuntimeError("what a file says")

    attempts: list[int] = []
    row = ROWS[kind.name](world, timezone.now())
    for name, value in (("do", broken), ("is_ready", lambda: True), ("may_claim", lambda _: True)):
        monkeypatch.setattr(kind, name, value)
    monkeypatch.setattr(sandbox_client, "is_outdated", lambda: False)
    for _ in range(settings.MAX_ATTEMPTS + 1):
        kind.run(key_of(kind, row))
    assert attempts == [*range(1, settings.MAX_ATTEMPTS + 1)]
    assert after(row).reason == Reason.INTERNAL and not is_queued(kind, row)
    assert "job_failed" in caplog.text and "RuntimeError" in caplog.text and "what a file says" not in caplog.text


def too_busy(*_: Any) -> None:
    raise SandboxTimeoutError("the sandbox had no time: the machine is too busy")


@each_kind
def test_a_busy_machine_never_uses_up_the_last_attempt(
    world: World, kind: Work, sent_messages: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = ROWS[kind.name](world, timezone.now())
    monkeypatch.setattr(kind, "do", too_busy)
    for attempt in range(1, settings.MAX_ATTEMPTS + 3):
        lease = kind.claim(key_of(kind, row))
        assert lease is not None, f"attempt {attempt} was the last"
        sent_messages.clear()
        kind._attempt(lease)
        assert after(row).reason == Reason.SANDBOX and is_queued(kind, row)
    assert sent_messages == [], "a machine that is busy is asked again by the next sweep, not at once"
    assert not QuotaCharge.objects.exclude(refunded_at=None).exists()


def test_a_busy_machine_never_uses_up_the_last_attempt_at_the_output_of_a_container(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The container has ended well, and the check of its predictions gets no processor time, again and again."""
    row = ROWS["predict"](world, timezone.now())
    result = engine.ExecutionResult(reason="", explanation="", name="predictions.jsonl", log="", cost={}, execution={})
    monkeypatch.setattr(run_system, "_ran", lambda *_, **__: result)
    for attempt in range(1, settings.MAX_ATTEMPTS + 3):
        lease = run_system.WORK.claim(row.pk)
        assert lease is not None, f"attempt {attempt} was the last"
        with monkeypatch.context() as patched:
            patched.setattr(sandbox_client.ProcessSandbox, "run", too_busy)
            run_system.WORK._attempt(lease)
        assert (after(row).state, row.reason) == (State.QUEUED, Reason.SANDBOX)
    assert QuotaCharge.objects.get().refunded_at is None


@each_kind
def test_nothing_is_claimed_without_the_sandbox(world: World, kind: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    row = ROWS[kind.name](world, timezone.now())
    monkeypatch.setattr(sandbox_client, "answers", lambda: False)
    monkeypatch.setattr("leaderboard.containers.actions.workers.ready", lambda *_: True)
    kind.run(key_of(kind, row))
    assert after(row).attempt == 0 and is_queued(kind, row)


@each_kind
def test_unclaimed_work_is_enqueued_again(world: World, kind: Work, sent_messages: Sent) -> None:
    row = ROWS[kind.name](world, timezone.now() - timedelta(hours=1))
    sent_messages.clear()
    assert kind.sweep() >= 1
    assert (f"leaderboard.jobs.{kind.name}", key_of(kind, row), QUEUES.get(kind.name, "scoring")) in sent_messages
    sent_messages.clear()
    assert kind.sweep() == 0 and sent_messages == [], "it was enqueued just now"


@each_kind
def test_work_that_failed_because_of_the_server_is_run_again(world: World, kind: Work, sent_messages: Sent) -> None:
    row = ROWS[kind.name](world, timezone.now())
    while is_queued(kind, row):
        lease = kind.claim(key_of(kind, row))
        assert lease is not None
        kind.retry_or_fail(lease, reason=Reason.INTERNAL, final=True)
    assert (run_again.count(), run_again.run_failed_again(), run_again.run_failed_again()) == (1, 1, 0)
    again = kind.rows.get(kind.columns.queued())
    assert again.reason == Reason.NONE and not QuotaCharge.objects.exclude(refunded_at=None).exists()
    sent_messages.clear()
    kind.sweep()
    message = (f"leaderboard.jobs.{kind.name}", key_of(kind, again), QUEUES.get(kind.name, "scoring"))
    assert message in sent_messages or kind.name in ("score", "run_scorer"), "a new run has a message already"
    lease = kind.claim(key_of(kind, again))
    assert lease is not None and (lease.attempt > row.attempt or lease.row != row), "no earlier attempt can write"
    # Of a fault of the benchmark, the server is not to blame.
    kind.retry_or_fail(lease, reason=Reason.BAD_GOLD, final=True)
    assert run_again.count() == 0


def test_what_is_scored_meanwhile_is_not_run_again(world: World, sent_messages: Sent) -> None:
    failed = world.insert_run(state=State.FAILED, reason=Reason.LOST, finished_at=timezone.now())
    assert run_again.count() == 1
    runs.queue(prediction=failed.prediction, gold=world.gold)
    assert (run_again.count(), run_again.run_failed_again()) == (0, 0)


def test_the_command_runs_failed_work_again(world: World, sent_messages: Sent, capsys: Any) -> None:
    world.insert_run(state=State.FAILED, reason=Reason.STORAGE, finished_at=timezone.now())
    call_command("run_failed_again")
    call_command("run_failed_again")
    assert capsys.readouterr().out == "1 failed job queued again\n0 failed jobs queued again\n"


def test_kinds_are_taken_in_one_order(world: World, sent_messages: Sent, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the order of the messages is: scores first, pictures last; each message leads to one row."""
    done: list[Work] = []
    monkeypatch.setattr(Work, "why_not_ready", lambda self: "")
    monkeypatch.setattr(Work, "_perform", lambda self, lease: done.append(self))
    names = ["render_plots", "detect_near_duplicates", "export_archive", "diff_gold", "score"]
    rows = {name: ROWS[name](world, timezone.now() - timedelta(seconds=1)) for name in names}
    n_rows = sum(kind.rows.filter(kind.columns.queued()).count() for kind in KINDS if kind.queue == "scoring")
    for _ in range(n_rows + 2):
        assert pictures.WORK.take(rows["render_plots"].pk)
    assert len(done) == n_rows and done == sorted(done, key=lambda kind: kind.urgency)
    taken = list(dict.fromkeys(kind.name for kind in done))
    assert taken == ["score", "diff_gold", "export_archive", "detect_near_duplicates", "render_plots"]


def test_a_row_that_has_waited_long_lets_nothing_go_first(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(Work, "why_not_ready", lambda self: "")
    monkeypatch.setattr(Work, "_perform", lambda self, lease: done.append(self.name))
    old = ROWS["render_plots"](world, timezone.now() - work.LONGEST_WAIT)
    ROWS["score"](world, timezone.now())
    pictures.WORK.take(old.pk)
    assert done == ["render_plots"]


def test_a_new_kind_needs_its_work_and_one_line(
    world: World, sent_messages: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list alone creates its Celery task, messages and sweep."""

    def do(lease: Any) -> None:
        lease.finish(state=State.DONE, progress=["counted"])

    row = ROWS["export_archive"](world, timezone.now() - timedelta(hours=1))
    new = Work(name="count_words", rows=ArchiveExport.objects.all(), do=do, urgency=Urgency.CURATION)
    monkeypatch.setattr(jobs, "SWEEPS", (new,))
    monkeypatch.setattr(sandbox_client, "answers", lambda: True)
    monkeypatch.setattr(sandbox_client, "is_outdated", lambda: False)
    jobs.register(jobs.SWEEPS)
    try:
        sweeps.sweep()
        ((task, key, queue),) = sent_messages
        assert (task, queue) == ("leaderboard.jobs.count_words", "scoring")
        jobs.app.tasks[task](key)
    finally:
        jobs.app.tasks.pop("leaderboard.jobs.count_words", None)
    assert (after(row).state, row.progress, row.attempt) == (State.DONE, ["counted"], 1)


def test_kinds_are_named_nowhere_else() -> None:
    """A kind is its `Work` and one line of `jobs.py`."""
    root = Path(leaderboard.__file__).parent
    spelled = [path.name for path in root.rglob("*.py") if "leaderboard.jobs." in path.read_text(encoding="utf-8")]
    assert spelled == ["enqueue.py"]
    assert (root / "jobs.py").read_text(encoding="utf-8").count(".WORK,\n") == len(KINDS)
