"""`holdout-eval submit` against a live server: predictions and images, over an unreliable network."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.utils import timezone

from evaluator.cli.main import main
from evaluator.cli.server import upload as uploading
from evaluator.client import api
from leaderboard.accounts.actions import teams, tokens
from leaderboard.containers.actions import image_uploads
from leaderboard.models import Image, ImageUpload, Membership, QuotaCharge, Submission, WorkerReport
from tests.conftest import ROOT
from tests.support.api_calls import person
from tests.support.broken_network import Fault, network
from tests.support.rows.tiny_world import World, build, prediction_lines
from tests.support.workers.running_stack import Stack

pytest_plugins = ["tests.support.workers.running_stack"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
PIECE = 50_000
REFERENCE = "registry.example/negation@sha256:" + "a" * 64


@pytest.fixture
def world(transactional_db: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> World:
    world = build()
    world.phase.takes_images = True
    world.phase.save()
    WorkerReport.objects.create(queue="systems", host="there", ready=True, seen_at=timezone.now())
    monkeypatch.setattr(image_uploads, "CHUNK_BYTES", PIECE)
    monkeypatch.setattr(uploading, "_FIRST_PAUSE", 0.0)
    monkeypatch.setattr(api, "PAUSES", (0.0,) * 4)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "token").write_text(tokens.issue(by=world.researcher)[1])
    (tmp_path / "predictions.jsonl").write_bytes(prediction_lines())
    (tmp_path / "image.tar").write_bytes(random.Random(1).randbytes(4 * PIECE + 123))
    return world


@pytest.fixture
def submit(world: World, live_server: Any, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run the command; return its status, output and errors, which never contain the token."""

    def run(*words: str, server: str = live_server.url) -> tuple[int, str, str]:
        options = ["--server", server, "--token-file", "token", "--benchmark", "tiny", "--phase", "test"]
        status = main(["submit", *words, *options, "--system", "Bernoulli"])
        printed = capsys.readouterr()
        assert Path("token").read_text() not in printed.out + printed.err
        return status, printed.out, printed.err

    return run


def port(live_server: Any) -> int:
    number = urlsplit(live_server.url).port
    assert number
    return number


def stored() -> str:
    """The sha256 of the only stored image."""
    with Image.objects.get().archive.open("rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def sent() -> str:
    return hashlib.sha256(Path("image.tar").read_bytes()).hexdigest()


def test_predictions_are_followed_to_their_scores(submit: Any, stack: Stack) -> None:
    status, out, err = submit("predictions.jsonl", "--wait", "--note", "seed 7")
    assert status == 0, err
    rows = [line.split() for line in out.splitlines()]
    assert ["accuracy", "all", "1.0000"] in [row[:3] for row in rows]
    submission = Submission.objects.get()
    assert submission.note == "seed 7"
    assert str(submission.pk) in err


def test_without_waiting_the_submission_is_the_result(submit: Any, stack: Stack) -> None:
    status, out, _ = submit("predictions.jsonl", "--json")
    printed = json.loads(out)
    assert (status, printed["id"], printed["system"]) == (0, str(Submission.objects.get().pk), "Bernoulli")


@pytest.mark.parametrize("words", [("predictions.jsonl",), ("--image", "image.tar")])
def test_facts_are_stated_with_a_submission(submit: Any, world: World, words: tuple[str, ...]) -> None:
    asked = [{"name": name, "title": name, "kind": "text"} for name in ("data", "licence")]
    type(world.benchmark).objects.update(facts=asked)
    status, _, err = submit(*words, "--fact", "colour=red")
    assert (status, "names data, licence" in err) == (64, True), err
    assert not Submission.objects.exists()
    status, _, err = submit(*words, "--fact", "data=Wikipedia", "--fact", "licence=CC BY-SA")
    assert status == 0, err
    assert Submission.objects.get().system.facts == {"data": "Wikipedia", "licence": "CC BY-SA"}


def test_an_invalid_file_is_reported_as_by_validate(
    submit: Any, world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("predictions.jsonl").write_text('{"id": "a1", "predicted_label": "MAYBE"}\n{"id": "zz"}\n')
    status, _, err = submit("predictions.jsonl")
    with world.split.inputs.open("rb") as inputs:
        Path("inputs.jsonl").write_bytes(inputs.read())
    assert main(["validate", "fact-verification", "--inputs", "inputs.jsonl", "predictions.jsonl"]) == status == 2
    problems = capsys.readouterr().err.splitlines()
    assert any(line.startswith("predictions.jsonl:1: ") for line in problems)
    assert err.splitlines()[: len(problems)] == problems
    assert not Submission.objects.exists()


def test_an_image_is_sent_in_chunks(submit: Any) -> None:
    status, _, err = submit("--image", "image.tar")
    assert (status, stored()) == (0, sent()), err
    assert not ImageUpload.objects.exists()
    assert QuotaCharge.objects.count() == 1


@pytest.mark.parametrize("fault", [Fault.CUT, Fault.UNANSWERED])
def test_an_image_is_sent_over_an_unreliable_network(submit: Any, live_server: Any, fault: Fault) -> None:
    """The third chunk fails; chunks that were received are not sent again."""
    chunk_numbers = itertools.count(1)

    def third(line: str) -> Fault:
        return fault if line.startswith("PATCH") and next(chunk_numbers) == 3 else Fault.NONE

    with network(port(live_server), third) as proxy:
        status, _, err = submit("--image", "image.tar", server=proxy.address)
    assert (status, stored()) == (0, sent()), err
    assert "trying again" in err
    assert proxy.offsets[:3] == [0, PIECE, 2 * PIECE]
    assert min(proxy.offsets[3:]) >= 2 * PIECE
    assert Submission.objects.count() == 1


def test_an_interrupted_upload_can_be_resumed(submit: Any, live_server: Any) -> None:
    chunk_numbers = itertools.count(1)
    faults: list[str] = []

    def after_the_second(line: str) -> Fault:
        if not line.startswith("PATCH") or next(chunk_numbers) <= 2:
            return Fault.NONE
        faults.append(line)
        return Fault.GONE

    with network(port(live_server), after_the_second) as proxy:
        status, _, err = submit("--image", "image.tar", server=proxy.address)
    assert status == 4
    assert len(faults) == uploading.ATTEMPTS
    upload = ImageUpload.objects.get()
    assert upload.received == 2 * PIECE
    assert f"--resume {upload.pk}" in err
    with network(port(live_server), lambda _: Fault.NONE) as proxy:
        status, _, err = submit("--image", "image.tar", "--resume", str(upload.pk), server=proxy.address)
    assert (status, stored()) == (0, sent()), err
    assert proxy.offsets[0] == 2 * PIECE
    assert not ImageUpload.objects.exists()


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("jq")), reason="needs curl and jq: apt-get install jq")
@pytest.mark.parametrize(("page", "start"), [("systems", "API="), ("api", "SIZE=")])
def test_the_documented_recipe_for_programs_works(world: World, live_server: Any, page: str, start: str) -> None:
    """The recipe of a page of docs/, with other names."""
    text = (ROOT / "docs" / f"{page}.md").read_text()
    recipe = re.search(rf"^    docker save .*?(^    {start}.*?\| jq -r \.url$)", text, re.MULTILINE | re.DOTALL)
    assert recipe
    script = textwrap.dedent(recipe[1]).replace("SLUG", "tiny").replace("PHASE", "test")
    script = script.replace("https://board.example", live_server.url).replace("16000000", str(PIECE))
    token = Path("token").read_text()
    shell = {**os.environ, "HOLDOUT_TOKEN": token, "TOKEN": token, "SITE": live_server.url}
    result = subprocess.run(["bash", "-ec", script], env=shell, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    (url,) = result.stdout.split()
    assert url.endswith(f"/api/v1/submissions/{Submission.objects.get().pk}/")
    assert stored() == sent()


def test_an_upload_is_not_resumed_with_another_archive(submit: Any, live_server: Any, world: World) -> None:
    upload = image_uploads.begin(phase=world.phase, by=world.researcher, name="i.tar", size=77)
    status, _, err = submit("--image", "image.tar", "--resume", str(upload.pk))
    assert status == 64
    assert "has 77 bytes" in err


def test_an_archive_of_equal_size_with_other_bytes_is_refused(submit: Any, world: World) -> None:
    """The upload was started with the sha256."""
    content = Path("image.tar").read_bytes()
    upload = image_uploads.begin(phase=world.phase, by=world.researcher, name="i.tar", size=len(content), sha256=sent())
    Path("image.tar").write_bytes(content[::-1])
    status, _, err = submit("--image", "image.tar", "--resume", str(upload.pk))
    assert status == 2
    assert "(digest_mismatch)" in err
    assert not Submission.objects.exists()


@pytest.mark.parametrize("words", [("predictions.jsonl",), ("--image", "image.tar")])
def test_a_member_submits_for_a_team(submit: Any, world: World, words: tuple[str, ...]) -> None:
    """Not for their first team, which is the default."""
    compilers = teams.create(name="Compilers", by=person("grace"))
    Membership.objects.create(team=compilers, user=world.researcher)
    status, _, err = submit(*words, "--team", "compilers")
    assert status == 0, err
    assert Submission.objects.get().system.team == compilers


def test_an_image_for_a_team_of_others_is_not_sent(submit: Any) -> None:
    teams.create(name="Compilers", by=person("grace"))
    status, _, err = submit("--image", "image.tar", "--team", "Compilers")
    assert (status, "(not_a_member)" in err) == (64, True), err
    assert not ImageUpload.objects.exists()


def test_another_teams_concurrent_submission_is_not_taken_for_ours(
    submit: Any, live_server: Any, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both teams have a system of the same name; our file does not arrive, and theirs does."""
    compilers = teams.create(name="Compilers", by=person("grace"))
    Membership.objects.create(team=compilers, user=world.researcher)
    world.insert_run()
    with network(port(live_server), lambda line: Fault.CUT if line.startswith("POST") else Fault.NONE) as proxy:
        status, _, err = submit("predictions.jsonl", "--team", "Compilers", server=proxy.address)
    assert (status, "submitted:" in err) == (4, False), err
    assert Submission.objects.get().system == world.system


@pytest.mark.parametrize("words", [("predictions.jsonl",), ("--image", "image.tar")])
def test_a_lost_response_does_not_cause_a_second_submission(
    submit: Any, live_server: Any, stack: Stack, words: tuple[str, ...]
) -> None:
    answers = iter([Fault.UNANSWERED])

    def last(line: str) -> Fault:
        finishing = line.startswith("POST") and ("/submission/" in line or "/submissions/" in line)
        return next(answers, Fault.NONE) if finishing else Fault.NONE

    with network(port(live_server), last) as proxy:
        status, _, err = submit(*words, server=proxy.address)
    assert status == 0, err
    assert "sending again in 0 s, which makes one submission" in err
    assert str(Submission.objects.get().pk) in err


def test_a_submission_that_did_not_arrive_is_reported(submit: Any, live_server: Any) -> None:
    def posts(line: str) -> Fault:
        return Fault.CUT if line.startswith("POST") else Fault.NONE

    with network(port(live_server), posts) as proxy:
        status, _, err = submit("predictions.jsonl", server=proxy.address)
    assert (status, Submission.objects.count()) == (4, 0)
    assert "no response from" in err


def test_an_exhausted_quota_keeps_the_uploaded_archive(submit: Any, world: World) -> None:
    world.phase.quota_total = 1
    world.phase.save()
    assert submit("--image", "image.tar")[0] == 0
    Path("image.tar").write_bytes(b"another image")
    status, _, err = submit("--image", "image.tar")
    assert status == 64
    assert "(quota_exceeded)" in err
    assert f"--resume {ImageUpload.objects.get().pk}" in err


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (("predictions.jsonl", "--image", "image.tar"), 64, "2 submissions are given, expected exactly one"),
        ((), 64, "0 submissions are given, expected exactly one"),
        (("absent.jsonl",), 64, "absent.jsonl"),
        (("--image", "image.tar", "--resume", "x"), 64, "expected the id"),
        (("predictions.jsonl", "--resume", "x"), 64, "expected --image"),
        (("predictions.jsonl", "--team", "Strangers"), 64, "(not_a_member)"),
        (("--reference", REFERENCE), 2, "(invalid_reference)"),
    ],
)
def test_invalid_submissions_are_refused(submit: Any, words: tuple[str, ...], status: int, text: str) -> None:
    returned, _, err = submit(*words)
    assert (returned, text in err) == (status, True), err
    assert not Submission.objects.exists()


def test_an_unknown_token_and_an_unknown_phase(submit: Any, world: World) -> None:
    world.benchmark.slug = "huge"
    world.benchmark.save()
    status, _, err = submit("predictions.jsonl")
    assert (status, "(not_found)" in err) == (64, True), err
    Path("token").write_text("0" * 64)
    status, _, err = submit("predictions.jsonl")
    assert (status, "(authentication_failed)" in err) == (64, True), err


def test_a_missing_engine_is_a_server_error(submit: Any) -> None:
    WorkerReport.objects.all().delete()
    status, _, err = submit("--image", "image.tar")
    assert (status, "engine_unavailable" in err) == (4, True), err
