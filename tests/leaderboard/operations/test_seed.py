"""Seeding the demonstration through the real path: a separate worker process and the real sandbox."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from leaderboard.datasets.queries.audit_results import public_audits
from leaderboard.hosting import build_image, submit_built_images
from leaderboard.models import (
    AuditEntry,
    Benchmark,
    GoldVersion,
    Prediction,
    QuotaCharge,
    Run,
    Split,
    Standing,
    State,
    Submission,
    System,
)
from leaderboard.operations import demo, embedded
from tests.support.full_run import FULL
from tests.support.rows.container_rows import engine_is_there
from tests.support.workers.running_stack import Stack

pytest_plugins = ["tests.support.workers.running_stack"]
FIXTURES = settings.ROOT / "fixtures"


@pytest.fixture(autouse=True)
def _no_logins_kept() -> Any:
    yield
    demo.logins().unlink(missing_ok=True)


def seed(**options: Any) -> str:
    output = StringIO()
    call_command("seed", stdout=output, **{"no_images": True, **options})
    return output.getvalue()


def manifests(fixtures: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(fixtures.glob("*/benchmark.json"))]


@pytest.fixture
def only_images(tmp_path: Path) -> Path:
    """Mirror Claims with only those systems that are images."""
    for name in ("systems", "mirror-claims"):
        shutil.copytree(FIXTURES / name, tmp_path / name)
    plan = json.loads((tmp_path / "mirror-claims" / "benchmark.json").read_text())
    plan["systems"] = [system for system in plan["systems"] if "image" in system]
    (tmp_path / "mirror-claims" / "benchmark.json").write_text(json.dumps(plan))
    return tmp_path


@pytest.fixture
def seeded_folder(tmp_path: Path) -> Path:
    """Two benchmarks of the demonstration; all of them in the full run, because CI's first command seeds all."""
    if FULL:
        return FIXTURES
    for name in ("systems", "mirror-claims", "rated-summaries"):
        shutil.copytree(FIXTURES / name, tmp_path / name)
    return tmp_path


def test_a_fresh_site_gets_populated_boards(stack: Stack, seeded_folder: Path) -> None:
    seed(fixtures=seeded_folder)
    hosted = manifests(seeded_folder)
    assert set(Benchmark.objects.public().values_list("slug", flat=True)) == {manifest["slug"] for manifest in hosted}
    expected = {
        (manifest["slug"], system["phase"], system["name"])
        for manifest in hosted
        for system in manifest["systems"]
        if "predictions" in system
    }
    standings = Standing.objects.values_list(
        "leaderboard__phase__benchmark__slug", "leaderboard__phase__slug", "system__name"
    )
    assert set(standings) == expected
    assert set(Run.objects.values_list("state", flat=True)) == {State.DONE}
    unvalued = Standing.objects.filter(value=None).values_list("leaderboard__phase__benchmark__slug", "system__name")
    assert set(unvalued) == {("rated-summaries", "Constant")}  # a constant has no correlation
    ranked = Standing.objects.exclude(rank=None).values_list("system__kind", flat=True)
    assert set(ranked) == {System.Kind.PARTICIPANT}

    counts = [
        model.objects.count() for model in (Benchmark, GoldVersion, Submission, Run, QuotaCharge, Standing, AuditEntry)
    ]
    output = seed(fixtures=seeded_folder)
    assert output.count("nothing was changed") == len(hosted)
    assert counts == [
        model.objects.count() for model in (Benchmark, GoldVersion, Submission, Run, QuotaCharge, Standing, AuditEntry)
    ]


@pytest.mark.slow
def test_every_hidden_split_is_published_with_its_audit(stack: Stack) -> None:
    """The manifests answer each warning that the audits find."""
    seed(fixtures=FIXTURES)
    output = seed(fixtures=FIXTURES, audits=True)
    hidden = Split.objects.filter(gold_public=False).exclude(inputs="")
    assert output.splitlines() == [f"{split}: audited" for split in sorted(hidden, key=str)]
    for split in hidden:
        (audit,) = public_audits(split)
        assert {answer.finding for answer in audit.answers.all()} == {
            index for index, row in enumerate(audit.report["findings"]) if row["severity"] == "warning"
        }


def test_users_can_log_in_and_their_passwords_are_private(transactional_db: None) -> None:
    people = demo.people()
    path = demo.logins()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    passwords = dict(line.split()[:2] for line in path.read_text().splitlines())
    assert set(passwords) == set(people)
    assert len(set(passwords.values())) == len(people)
    for username, password in passwords.items():
        assert Client().login(username=username, password=password)
    assert {name for name, user in people.items() if user.is_curator} == {"curator"}

    before = path.read_text()
    demo.people()
    assert path.read_text() == before


def test_an_existing_account_keeps_its_password(db: None, django_user_model: Any) -> None:
    django_user_model.objects.create_user("ada", "ada@holdout.example", "correct horse")
    demo.people()
    assert Client().login(username="ada", password="correct horse")
    assert "ada" not in {line.split()[0] for line in demo.logins().read_text().splitlines()}


def test_a_missing_worker_is_reported(
    sandbox: str, transactional_db: None, seeded_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # No message may be sent: a worker of another test would receive it.
    monkeypatch.setattr("leaderboard.work_queue.enqueue._send", lambda *_: None)
    with pytest.raises(CommandError, match="no worker has taken one"):
        seed(fixtures=seeded_folder, wait_seconds=0.1)
    assert set(Run.objects.values_list("state", flat=True)) == {State.QUEUED}


def test_without_an_engine_skipped_images_are_named(
    sandbox: str, transactional_db: None, only_images: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("leaderboard.work_queue.enqueue._send", lambda *_: None)
    monkeypatch.setenv("PATH", "/nowhere")
    output = seed(fixtures=only_images, wait_seconds=0, no_images=False)
    (line,) = (line for line in output.splitlines() if line.startswith("skipped"))
    expected = [
        f"mirror-claims: {name}, in a container" for name in ("Majority label", "claim-only", "claim-and-evidence")
    ]
    assert all(name in line for name in expected)
    assert "the `docker` command is not installed" in line
    assert not System.objects.filter(name__endswith="in a container").exists()


def test_only_an_image_that_cannot_be_built_is_skipped(
    sandbox: str, transactional_db: None, only_images: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def built(*, system: Any, benchmark: Any) -> Any:
        raise build_image.CannotBuildError(f"no {system.name} today")

    monkeypatch.setattr("leaderboard.work_queue.enqueue._send", lambda *_: None)
    monkeypatch.setattr(build_image, "check_ready", lambda say: None)
    monkeypatch.setattr(build_image, "build_reference_base", lambda: None)
    monkeypatch.setattr(build_image, "built_archive", built)
    engine_is_there()
    output = seed(fixtures=only_images, wait_seconds=0, no_images=False)
    assert "mirror-claims: claim-only, in a container: skipped. no claim-only today" in output
    assert output.count(": skipped. ") == 3


def test_without_their_base_only_the_reference_systems_are_skipped(
    sandbox: str, transactional_db: None, only_images: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_base() -> None:
        raise build_image.CannotBuildError("no index of packages")

    @contextmanager
    def built(*, system: Path, benchmark: Path) -> Iterator[Path]:
        archive = only_images / "archive.tar.gz"
        archive.write_text(system.name)
        yield archive

    monkeypatch.setattr("leaderboard.work_queue.enqueue._send", lambda *_: None)
    monkeypatch.setattr(build_image, "check_ready", lambda say: None)
    monkeypatch.setattr(build_image, "build_reference_base", no_base)
    monkeypatch.setattr(build_image, "built_archive", built)
    engine_is_there()
    output = seed(fixtures=only_images, wait_seconds=0, no_images=False)
    (line,) = (line for line in output.splitlines() if line.startswith("skipped"))
    names = [f"mirror-claims: {name}, in a container" for name in ("claim-only", "claim-and-evidence")]
    assert f"base cannot be built: {'; '.join(names)}. Reason: no index of packages" in line
    assert Submission.objects.get().system.name == "Majority label, in a container"


def test_an_image_with_unchanged_sources_is_not_rebuilt(
    sandbox: str, transactional_db: None, only_images: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds: list[str] = []

    @contextmanager
    def built(*, system: Path, benchmark: Path) -> Iterator[Path]:
        builds.append(f"{system.name} for {benchmark.name}")
        archive = only_images / "archive.tar.gz"
        archive.write_text(f"build {len(builds)}: other bytes each time")
        yield archive

    def again() -> list[str]:
        builds.clear()
        seed(fixtures=only_images, wait_seconds=0, no_images=False)
        return builds

    monkeypatch.setattr("leaderboard.work_queue.enqueue._send", lambda *_: None)
    monkeypatch.setattr(build_image, "check_ready", lambda say: None)
    monkeypatch.setattr(build_image, "build_reference_base", lambda: None)
    monkeypatch.setattr(build_image, "built_archive", built)
    engine_is_there()
    systems = ("majority", "claim-only", "claim-and-evidence")
    assert again() == [f"{system} for mirror-claims" for system in systems]
    assert set(Submission.objects.values_list("kind", "system__kind")) == {("image", "baseline")}
    assert again() == []
    ended = Prediction.objects.filter(submission__system__name__startswith="Majority")
    ended.update(state=State.REJECTED, finished_at=timezone.now())
    assert again() == ["majority for mirror-claims"]
    with (only_images / "systems" / "claim-only" / "Dockerfile").open("a") as program:
        program.write("# another version\n")
    assert again() == ["claim-only for mirror-claims"]
    assert again() == []
    assert Submission.objects.count() == 5


def test_later_images_are_submitted_one_at_a_time(
    sandbox: str, transactional_db: None, only_images: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is stopped in between is continued, and what is there is not built again."""
    path = only_images / "mirror-claims" / "benchmark.json"
    plan = json.loads(path.read_text())
    for system in plan["systems"][1:]:
        system["later"] = True
    path.write_text(json.dumps(plan))
    events: list[str] = []

    @contextmanager
    def built(*, system: Path, benchmark: Path) -> Iterator[Path]:
        if events[-1:] == ["stop"]:
            raise KeyboardInterrupt
        events.append(system.name)
        archive = only_images / "archive.tar.gz"
        archive.write_text(system.name)
        yield archive

    def wait(submissions: list[Submission], seconds: float, say: Any) -> None:
        events.extend(f"waited for {submission.system.name}" for submission in submissions)

    monkeypatch.setattr("leaderboard.work_queue.enqueue._send", lambda *_: None)
    monkeypatch.setattr(build_image, "check_ready", lambda say: None)
    monkeypatch.setattr(build_image, "build_reference_base", lambda: None)
    monkeypatch.setattr(build_image, "built_archive", built)
    monkeypatch.setattr(submit_built_images, "wait", wait)
    engine_is_there()
    seed(fixtures=only_images, wait_seconds=0, no_images=False)
    assert events == ["majority"]
    events[:] = ["stop"]
    with pytest.raises(KeyboardInterrupt):
        seed(fixtures=only_images, systems=True)
    events.clear()
    seed(fixtures=only_images, systems=True)
    names = ("claim-only", "claim-and-evidence")
    right = [event for name in names for event in (name, f"waited for {name}, in a container")]
    assert events == right
    seed(fixtures=only_images, systems=True)
    assert events == right + [f"waited for {name}, in a container" for name in names]


def test_later_images_without_an_engine_are_named(
    sandbox: str, transactional_db: None, only_images: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert seed(fixtures=only_images, systems=True) == ""  # nothing is hosted yet
    path = only_images / "mirror-claims" / "benchmark.json"
    path.write_text(path.read_text().replace('"image":', '"later": true, "image":'))
    monkeypatch.setattr("leaderboard.work_queue.enqueue._send", lambda *_: None)
    monkeypatch.setenv("PATH", "/nowhere")
    seed(fixtures=only_images, wait_seconds=0)
    output = seed(fixtures=only_images, systems=True)
    assert output.startswith("skipped, because they are container images: mirror-claims: Majority label")
    assert "the `docker` command is not installed" in output


def test_what_follows_when_the_site_is_ready_is_done_once(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOLDOUT_DATABASE_URL", raising=False)
    settings.DATA = tmp_path
    assert embedded.remaining_steps() == []
    embedded.mark_seeded()
    assert embedded.remaining_steps() == ["--audits", "--systems"]
    embedded.mark_done("--audits")
    assert embedded.remaining_steps() == ["--systems"]
    monkeypatch.setenv("HOLDOUT_DATABASE_URL", "postgres://elsewhere")
    assert embedded.remaining_steps() == []


def test_an_engine_without_a_worker_is_reported(
    sandbox: str, transactional_db: None, only_images: Path, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.SWEEP_SECONDS = -2.5  # so that the command does not wait for a report that never comes
    monkeypatch.setattr("leaderboard.work_queue.enqueue._send", lambda *_: None)
    monkeypatch.setattr(build_image, "check_ready", lambda say: None)
    assert "Reason: No worker with a container engine has reported" in seed(
        fixtures=only_images, wait_seconds=0, no_images=False
    )


def test_a_folder_without_benchmarks_is_reported(db: None, tmp_path: Any) -> None:
    with pytest.raises(CommandError, match="found no"):
        seed(fixtures=tmp_path)
