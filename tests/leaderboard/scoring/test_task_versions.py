"""A raised task version: who may score what, what is rescored, and how a half-upgraded server behaves."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as site
from django.core.management import call_command
from django.test import Client

from evaluator import code_digest
from evaluator.sandbox.process import launch
from evaluator.tasks.registry import TASKS
from leaderboard.accounts.actions import teams
from leaderboard.boards.queries.prepared_board import outdated, outdated_version, progress_of
from leaderboard.core.refusal import Code, Refused
from leaderboard.evaluation import sandbox_client
from leaderboard.models import AuditEntry, QuotaCharge, Reason, Run, State
from leaderboard.scoring.actions import rescoring, runs
from tests.support.rows.corrected_gold import BEFORE, HALF, correct, score_all, shown, states, two_systems
from tests.support.rows.tiny_world import TASK, World

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def world(transactional_db: None, sandbox: str) -> World:
    return two_systems()


@pytest.fixture(scope="session")
def upgraded() -> Iterator[tuple[str, str]]:
    """Returns (socket, digest) of a sandbox server whose code has version 2 of fact verification."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        shutil.copytree(site.ROOT / "evaluator", root / "evaluator", ignore=shutil.ignore_patterns("__pycache__"))
        source = root / "evaluator/tasks/fact_verification/__init__.py"
        new_source = source.read_text().replace("    version = 1\n", "    version = 2\n")
        assert new_source != source.read_text()
        source.write_text(new_source)
        server = launch.start(root / "s", root=root)
        yield str(root / "s"), code_digest.digest(root / "evaluator")
        server.terminate()
        server.wait()


@pytest.fixture
def upgrade(monkeypatch: pytest.MonkeyPatch, settings: Any, upgraded: tuple[str, str]) -> Any:
    """The two parts that an upgrade replaces: this process (`code`) and the sandbox server (`server`)."""

    class Upgrade:
        def code(self, version: int = 2) -> None:
            monkeypatch.setattr(TASKS[TASK], "version", version)
            monkeypatch.setattr(code_digest, "SHA256", upgraded[1])

        def server(self) -> None:
            settings.SANDBOX_SOCKET = upgraded[0]

        def whole(self) -> None:
            self.code()
            self.server()

    return Upgrade()


def test_a_raised_version_is_reported_and_changes_nothing_automatically(world: World, upgrade: Any) -> None:
    assert outdated() == []
    upgrade.whole()
    assert [(phase.slug, version) for phase, version in outdated()] == [("test", 1)]
    assert outdated_version(world.phase) == 1
    assert shown(world) == BEFORE
    assert not Run.objects.filter(state=State.QUEUED).exists()


def test_all_runs_are_rescored_and_the_board_switches_as_a_whole(world: World, upgrade: Any) -> None:
    upgrade.whole()
    assert rescoring.begin(phase=world.phase, by=world.curator) == 2
    assert outdated() == []
    first, second = Run.objects.filter(state=State.QUEUED).order_by("queued_at")
    runs.WORK.run(first.pk)
    assert states(world) == [(1, 1, "current"), (1, 2, "preparing")]
    runs.WORK.run(second.pk)
    assert states(world) == [(1, 1, "frozen"), (1, 2, "current")]
    assert shown(world) == BEFORE
    first.refresh_from_db()
    assert first.provenance["task_version"] == 2
    assert first.provenance["code_sha256"] == code_digest.SHA256
    frozen = Client().get("/benchmarks/tiny/test/gold-1/task-1/").content.decode()
    assert "Frozen." in frozen
    assert QuotaCharge.objects.count() == 2


def test_the_command_finds_outdated_boards(world: World, upgrade: Any, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("rescore", outdated=True)
    assert "no phase is outdated" in capsys.readouterr().out
    upgrade.whole()
    call_command("rescore", outdated=True, dry_run=True)
    assert "tiny test: scored by task version 1" in capsys.readouterr().out
    assert not Run.objects.filter(state=State.QUEUED).exists()
    call_command("rescore", outdated=True)
    assert "tiny test: 2 runs queued" in capsys.readouterr().out
    score_all()
    assert states(world) == [(1, 1, "frozen"), (1, 2, "current")]


def test_a_submission_before_the_rescoring_is_on_the_next_board(world: World, upgrade: Any) -> None:
    upgrade.whole()
    world.submit(HALF, system=teams.system(team=world.system.team, name="Late", by=world.researcher))
    score_all()
    assert shown(world) == BEFORE
    assert outdated_version(world.phase) == 1, "the others are not queued by this"
    assert rescoring.begin(phase=world.phase) == 2
    assert outdated_version(world.phase) is None
    score_all()
    assert shown(world) == [("Bernoulli", 1, 1.0), ("Late", 2, 0.5), ("Contrary", 3, 0.0)]


def test_a_queued_run_of_an_earlier_version_is_replaced(world: World, upgrade: Any) -> None:
    submission = world.submit(HALF)
    upgrade.whole()
    score_all()
    old, new = Run.objects.filter(prediction__submission=submission).order_by("task_version")
    assert (old.state, old.reason) == (State.CANCELLED, Reason.SUPERSEDED)
    assert (new.state, new.task_version) == (State.QUEUED, 2)
    assert not runs.WORK.claim(old.pk)
    score_all()
    new.refresh_from_db()
    assert new.state == State.DONE
    assert QuotaCharge.objects.filter(submission=submission, refunded_at=None).count() == 1


def test_a_worker_of_the_earlier_version_does_not_claim_later_runs(world: World) -> None:
    submission = world.submit(HALF)
    Run.objects.filter(prediction__submission=submission).update(task_version=2)
    score_all()
    run = Run.objects.get(prediction__submission=submission)
    assert (run.state, run.attempt, run.reason) == (State.QUEUED, 0, Reason.OUTDATED)
    client = Client()
    client.force_login(world.researcher)
    assert "the server is being upgraded" in client.get(submission.get_absolute_url()).content.decode()


@pytest.mark.parametrize("who", ["code", "server"])
def test_a_half_upgraded_server_scores_nothing_and_spends_no_attempt(world: World, upgrade: Any, who: str) -> None:
    submission = world.submit(HALF)
    getattr(upgrade, who)()
    score_all()
    run = Run.objects.get(prediction__submission=submission)
    assert (run.state, run.attempt, run.reason) == (State.QUEUED, 0, Reason.OUTDATED)
    with pytest.raises(sandbox_client.SandboxError, match="restart both"):
        sandbox_client.check()
    with pytest.raises(Refused) as refused:
        world.submit(HALF)
    assert refused.value.code is Code.SANDBOX_UNAVAILABLE and "the server is being upgraded" in refused.value.message
    ready = Client().get("/health/ready")
    assert (ready.status_code, ready.json()["sandbox"]) == (503, False)
    upgrade.whole()
    score_all()
    score_all()
    assert Run.objects.get(prediction__submission=submission, state=State.DONE).task_version == 2


def test_a_raised_version_cannot_be_cancelled(world: World, upgrade: Any) -> None:
    upgrade.whole()
    rescoring.begin(phase=world.phase)
    with pytest.raises(Refused) as refused:
        rescoring.cancel(phase=world.phase, by=world.curator)
    assert refused.value.code is Code.NOT_CANCELLABLE
    assert not AuditEntry.objects.filter(action="rescoring.cancelled").exists()
    score_all()
    assert states(world) == [(1, 1, "frozen"), (1, 2, "current")]


def test_a_correction_and_a_raised_version_together(world: World, upgrade: Any) -> None:
    """Cancelling the correction leaves the shown gold, scored by the installed version."""
    upgrade.whole()
    correct(world)
    assert states(world) == [(1, 1, "current"), (2, 2, "preparing")]
    rescoring.cancel(phase=world.phase, by=world.curator)
    assert states(world) == [(1, 1, "current"), (1, 2, "preparing"), (2, 2, "cancelled")]
    score_all()
    assert shown(world) == BEFORE
    assert states(world) == [(1, 1, "frozen"), (1, 2, "current"), (2, 2, "cancelled")]


def test_a_version_raised_during_a_correction(world: World, upgrade: Any) -> None:
    correct(world)
    first = Run.objects.filter(state=State.QUEUED).order_by("queued_at").first()
    assert first is not None
    runs.WORK.run(first.pk)
    upgrade.whole()
    score_all()
    score_all()
    assert outdated_version(world.phase) == 1
    assert progress_of(world.phase) is not None
    rescoring.begin(phase=world.phase)
    score_all()
    assert states(world) == [(1, 1, "frozen"), (2, 1, "cancelled"), (2, 2, "current")]
    assert [name for name, _, _ in shown(world)] == ["Contrary", "Bernoulli"]


def test_the_page_has_a_message_and_a_button(world: World, upgrade: Any) -> None:
    upgrade.whole()
    client = Client()
    client.force_login(world.curator)
    assert "task version raised" in client.get("/manage/benchmarks/tiny/").content.decode()
    url = "/manage/benchmarks/tiny/phases/test/rescoring/"
    page = client.get(url).content.decode()
    assert "Task version raised" in page and "Rescore all" in page
    assert client.post(f"{url}begin/").status_code == 302
    after = client.get(url).content.decode()
    assert "Rescore all" not in after and "Cancel the rescoring" not in after
    assert "was raised from 1 to 2" in after
