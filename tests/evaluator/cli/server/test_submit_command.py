"""`holdout submit` against a live server: predictions and images, over a network that breaks."""

from __future__ import annotations

import hashlib
import io
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
from evaluator.cli.server import submit as submitting
from evaluator.cli.server import upload as uploading
from leaderboard.accounts.actions import teams, tokens
from leaderboard.containers.actions import image_uploads
from leaderboard.models import Image, ImageUpload, Membership, QuotaCharge, Submission, WorkerReport
from tests.conftest import ROOT
from tests.support.api_calls import person
from tests.support.broken_network import Fault, network
from tests.support.tiny_world import World, build, prediction_lines
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
    monkeypatch.setattr(image_uploads, "PIECE_BYTES", PIECE)
    monkeypatch.setattr(uploading, "_FIRST_PAUSE", 0.0)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "token").write_text(tokens.issue(by=world.researcher)[1])
    (tmp_path / "predictions.jsonl").write_bytes(prediction_lines())
    (tmp_path / "image.tar").write_bytes(random.Random(1).randbytes(4 * PIECE + 123))
    return world


@pytest.fixture
def submit(world: World, live_server: Any, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Runs the command; status, output and errors. No word of it holds the token."""

    def run(*words: str, server: str = live_server.url) -> tuple[int, str, str]:
        where = ["--server", server, "--token-file", "token", "--benchmark", "tiny", "--phase", "test"]
        status = main(["submit", *words, *where, "--system", "Bernoulli"])
        said = capsys.readouterr()
        assert Path("token").read_text() not in said.out + said.err
        return status, said.out, said.err

    return run


def port(live_server: Any) -> int:
    found = urlsplit(live_server.url).port
    assert found
    return found


def stored() -> str:
    """The sha256 of the one image that is there."""
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
    told = json.loads(out)
    assert (status, told["id"], told["system"]) == (0, str(Submission.objects.get().pk), "Bernoulli")


def test_a_bad_file_is_told_as_validate_tells_it(submit: Any, world: World, capsys: pytest.CaptureFixture[str]) -> None:
    Path("predictions.jsonl").write_text('{"id": "a1", "predicted_label": "MAYBE"}\n{"id": "zz"}\n')
    status, _, err = submit("predictions.jsonl")
    with world.split.inputs.open("rb") as inputs:
        Path("inputs.jsonl").write_bytes(inputs.read())
    assert main(["validate", "fact-verification", "--inputs", "inputs.jsonl", "predictions.jsonl"]) == status == 2
    problems = capsys.readouterr().err.splitlines()
    assert any(line.startswith("predictions.jsonl:1: ") for line in problems)
    assert err.splitlines()[: len(problems)] == problems
    assert not Submission.objects.exists()


def test_an_image_arrives_in_chunks(submit: Any) -> None:
    status, _, err = submit("--image", "image.tar")
    assert (status, stored()) == (0, sent()), err
    assert not ImageUpload.objects.exists()
    assert QuotaCharge.objects.count() == 1


@pytest.mark.parametrize("former", [False, True])
def test_a_chunk_goes_to_a_server_of_this_or_of_the_previous_version(former: bool) -> None:
    requests: list[tuple[str, str, dict[str, Any]]] = []

    class Recording:
        def request(self, verb: str, path: str, **more: Any) -> None:
            requests.append((verb, path, more))

    address, size = ("pieces", "piece_bytes") if former else ("chunks", "chunk_bytes")
    uploading._send_chunk(Recording(), io.BytesIO(b"abcdef"), "ID", {"received": 2, size: 3})  # type: ignore[arg-type]
    assert requests == [("POST", f"image-uploads/ID/{address}/", {"query": {"offset": "2"}, "body": b"cde"})]


@pytest.mark.parametrize("fault", [Fault.CUT, Fault.UNANSWERED])
def test_an_image_arrives_over_a_network_that_breaks(submit: Any, live_server: Any, fault: Fault) -> None:
    """The third piece meets the fault; what is there is not sent again."""
    pieces = itertools.count(1)

    def third(line: str) -> Fault:
        return fault if "/chunks/" in line and next(pieces) == 3 else Fault.NONE

    with network(port(live_server), third) as way:
        status, _, err = submit("--image", "image.tar", server=way.address)
    assert (status, stored()) == (0, sent()), err
    assert "trying again" in err
    offsets = [int(line.split("offset=")[1].split()[0]) for line, _ in way.seen if "/chunks/" in line]
    assert offsets[:3] == [0, PIECE, 2 * PIECE]
    assert min(offsets[3:]) >= 2 * PIECE
    assert Submission.objects.count() == 1


def test_an_upload_that_was_given_up_goes_on_later(submit: Any, live_server: Any) -> None:
    pieces = itertools.count(1)
    faults: list[str] = []

    def after_the_second(line: str) -> Fault:
        if "/chunks/" not in line or next(pieces) <= 2:
            return Fault.NONE
        faults.append(line)
        return Fault.GONE

    with network(port(live_server), after_the_second) as way:
        status, _, err = submit("--image", "image.tar", server=way.address)
    assert status == 4
    assert len(faults) == uploading.ATTEMPTS
    upload = ImageUpload.objects.get()
    assert upload.received == 2 * PIECE
    assert f"--resume {upload.pk}" in err
    with network(port(live_server), lambda _: Fault.NONE) as way:
        status, _, err = submit("--image", "image.tar", "--resume", str(upload.pk), server=way.address)
    assert (status, stored()) == (0, sent()), err
    first = next(line for line, _ in way.seen if "/chunks/" in line)
    assert f"offset={2 * PIECE} " in first
    assert not ImageUpload.objects.exists()


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("jq")), reason="needs curl and jq: apt-get install jq")
def test_the_pages_recipe_for_programs_works(world: World, live_server: Any) -> None:
    """As docs/systems.md has it, but for the names."""
    page = (ROOT / "docs" / "systems.md").read_text()
    found = re.search(r"^    docker save .*?(^    API=.*?\| jq -r \.url$)", page, re.MULTILINE | re.DOTALL)
    assert found
    script = textwrap.dedent(found[1]).replace("SLUG", "tiny").replace("PHASE", "test")
    script = script.replace("https://board.example", live_server.url).replace("16000000", str(PIECE))
    shell = {**os.environ, "HOLDOUT_TOKEN": Path("token").read_text()}
    done = subprocess.run(["bash", "-ec", script], env=shell, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *received, url = done.stdout.split()
    assert received == [str(min(PIECE * number, 4 * PIECE + 123)) for number in range(1, 6)]
    assert url.endswith(f"/api/v1/submissions/{Submission.objects.get().pk}/")
    assert stored() == sent()


def test_another_archive_does_not_go_on(submit: Any, live_server: Any, world: World) -> None:
    upload = image_uploads.begin(phase=world.phase, by=world.researcher, name="i.tar", size=77)
    status, _, err = submit("--image", "image.tar", "--resume", str(upload.pk))
    assert status == 64
    assert "has 77 bytes" in err


def test_the_same_size_with_other_bytes_is_refused(submit: Any, world: World) -> None:
    """The sha256 was announced at the beginning."""
    content = Path("image.tar").read_bytes()
    upload = image_uploads.begin(phase=world.phase, by=world.researcher, name="i.tar", size=len(content), sha256=sent())
    Path("image.tar").write_bytes(content[::-1])
    status, _, err = submit("--image", "image.tar", "--resume", str(upload.pk))
    assert status == 2
    assert "(invalid_image)" in err
    assert not Submission.objects.exists()


@pytest.mark.parametrize("words", [("predictions.jsonl",), ("--image", "image.tar")])
def test_a_member_submits_for_a_team(submit: Any, world: World, words: tuple[str, ...]) -> None:
    """Not for their first one, which is what they submit for unless they say otherwise."""
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


def test_what_another_team_sends_meanwhile_is_not_taken_for_ours(
    submit: Any, live_server: Any, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have a system of one name; our file does not arrive, and theirs does."""
    compilers = teams.create(name="Compilers", by=person("grace"))
    Membership.objects.create(team=compilers, user=world.researcher)
    looked = submitting._newest

    def looked_before(given: Any, server: Any) -> Any:
        found = looked(given, server)
        if not Submission.objects.exists():
            world.insert_run()
        return found

    monkeypatch.setattr(submitting, "_newest", looked_before)
    with network(port(live_server), lambda line: Fault.CUT if line.startswith("POST") else Fault.NONE) as way:
        status, _, err = submit("predictions.jsonl", "--team", "Compilers", server=way.address)
    assert (status, "has received the submission" in err) == (4, False), err
    assert Submission.objects.get().system == world.system


@pytest.mark.parametrize("words", [("predictions.jsonl",), ("--image", "image.tar")])
def test_a_lost_answer_is_no_second_submission(
    submit: Any, live_server: Any, stack: Stack, words: tuple[str, ...]
) -> None:
    def last(line: str) -> Fault:
        finishing = line.startswith("POST") and ("/submission/" in line or "/submissions/" in line)
        return Fault.UNANSWERED if finishing else Fault.NONE

    with network(port(live_server), last) as way:
        status, _, err = submit(*words, server=way.address)
    assert status == 0, err
    assert "the server has received the submission" in err
    assert str(Submission.objects.get().pk) in err


def test_a_submission_that_did_not_arrive_is_told(submit: Any, live_server: Any) -> None:
    def posts(line: str) -> Fault:
        return Fault.CUT if line.startswith("POST") else Fault.NONE

    with network(port(live_server), posts) as way:
        status, _, err = submit("predictions.jsonl", server=way.address)
    assert (status, Submission.objects.count()) == (4, 0)
    assert "no response from" in err


def test_a_quota_that_is_used_up_keeps_the_archive(submit: Any, world: World) -> None:
    world.phase.quota_total = 1
    world.phase.save()
    assert submit("--image", "image.tar")[0] == 0
    Path("image.tar").write_bytes(b"another image")
    status, _, err = submit("--image", "image.tar")
    assert status == 64
    assert "(quota_exceeded)" in err
    assert f"--resume {ImageUpload.objects.get().pk}" in err


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("predictions.jsonl", "--image", "image.tar"), 64, "expected one of"),
        ((), 64, "expected one of"),
        (("absent.jsonl",), 64, "absent.jsonl"),
        (("--image", "image.tar", "--resume", "x"), 64, "expected the id"),
        (("predictions.jsonl", "--resume", "x"), 64, "expected --image"),
        (("predictions.jsonl", "--team", "Strangers"), 64, "(not_a_member)"),
        (("--reference", REFERENCE), 2, "(invalid_image)"),
    ],
)
def test_what_is_refused(submit: Any, words: tuple[str, ...], status: int, said: str) -> None:
    got, _, err = submit(*words)
    assert (got, said in err) == (status, True), err
    assert not Submission.objects.exists()


def test_an_unknown_token_and_an_unknown_phase(submit: Any, world: World) -> None:
    world.benchmark.slug = "huge"
    world.benchmark.save()
    status, _, err = submit("predictions.jsonl")
    assert (status, "(not_found)" in err) == (64, True), err
    Path("token").write_text("0" * 64)
    status, _, err = submit("predictions.jsonl")
    assert (status, "(authentication_failed)" in err) == (64, True), err


def test_a_phase_without_an_engine_is_not_the_authors_fault(submit: Any) -> None:
    WorkerReport.objects.all().delete()
    status, _, err = submit("--image", "image.tar")
    assert (status, "engine_unavailable" in err) == (4, True), err
