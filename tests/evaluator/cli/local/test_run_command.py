"""`holdout-eval run` with a real engine: results equal those of the server."""

from __future__ import annotations

import functools
import json
import os
import re
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evaluator.cli.local import engine
from evaluator.cli.main import main
from evaluator.sandbox.containers import image_reader
from tests.conftest import ROOT
from tests.support import container_images
from tests.support.rows.tiny_world import LABELS

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(bool(container_images.missing()), reason=container_images.missing()),
]
CLAIMS = b"".join(
    json.dumps({"id": name, "claim": "It is not so.", "evidence_text": "It is."}).encode() + b"\n" for name in LABELS
)
WRITES = 'open("/output/predictions.jsonl", "w").write('
Build = Callable[..., str]


def docker(*arguments: str) -> str:
    done = subprocess.run(["docker", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def build() -> Iterator[Build]:
    """Build an image of a Python program, with more lines of a Dockerfile; return its id. Removed after the test."""
    images: list[str] = []

    def build(program: str, *lines: str, tag: str = "") -> str:
        with tempfile.TemporaryDirectory() as context:
            Path(context, "main.py").write_text(program)
            more = "\n".join(lines)
            Path(context, "Dockerfile").write_text(
                f'FROM {container_images.BASE}\nCOPY main.py /main.py\nENTRYPOINT ["python3", "/main.py"]\n{more}\n'
            )
            image = docker("build", "--quiet", *(("--tag", tag) if tag else ()), context).strip()
        images.append(tag or image)
        return image

    yield build
    for image in images:
        subprocess.run(["docker", "image", "rm", image], capture_output=True, check=False)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    (tmp_path / "inputs.jsonl").write_bytes(CLAIMS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(engine, "INSTANCE", f"test-{secrets.token_hex(4)}")
    yield tmp_path
    assert container_images.containers(f"holdout.instance={engine.INSTANCE}") == []
    assert docker("volume", "ls", "--quiet", "--filter", f"label=holdout.instance={engine.INSTANCE}") == ""


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    def run(image: str, *more: str) -> tuple[int, str, str]:
        status = main(["run", image, "--task", "fact-verification", "--inputs", "inputs.jsonl", *more])
        return status, *capsys.readouterr()

    return run


def test_an_image_named_by_its_tag(run: Any, build: Build, folder: Path) -> None:
    build(container_images.answering(LABELS), tag="holdout-test-right:1")
    status, out, err = run("holdout-test-right:1")
    assert status == 0, err
    lines = [json.loads(line) for line in (folder / "predictions.jsonl").read_text().splitlines()]
    assert {line["id"]: line["predicted_label"] for line in lines} == LABELS
    assert "predictions.jsonl: 4 lines, no problems" in err
    assert "answered 4" in err  # the system's output
    assert re.search(r"^cost: [0-9.]+ s.*; image [0-9.]+ [kMG]B$", err, re.MULTILINE)
    assert out == ""


def test_an_archive_leaves_no_image_behind(run: Any, tmp_path: Path) -> None:
    archive = container_images.archive_of(container_images.answering(LABELS), tmp_path)
    status, out, err = run(str(archive), "--json", "--output", "mine.jsonl")
    assert status == 0, err
    report = json.loads(out)
    assert (report["ok"], report["verdict"], report["n_lines"], report["output"]) == (True, "done", 4, "mine.jsonl")
    assert report["sandbox"]["no_capabilities"] is True
    assert report["cost"]["wall_seconds"] > 0
    assert not [
        image for image in docker("image", "ls", "--quiet", "--no-trunc").split() if image.endswith(archive.stem)
    ]


def test_limits_and_options_reach_the_system(run: Any, build: Build) -> None:
    image = build('print(open("/input/task.json").read())\nraise SystemExit(3)')
    status, _, err = run(
        image, "--seconds", "33", "--memory", "256MB", "--processes", "9", "--option", "max_evidence=7", "--no-check"
    )
    task = json.loads(err[err.index("{") : err.rindex("}") + 1])
    assert status == 2
    assert "non-zero exit status (status 3)" in err
    assert task["options"] == {"max_evidence": "7"}
    limits = {name: task["limits"][name] for name in ("wall_seconds", "memory_bytes", "processes", "cpus")}
    assert limits == {"wall_seconds": 33, "memory_bytes": 256_000_000, "processes": 9, "cpus": 1}


BAD = {
    "a label that is none": (
        f'{WRITES}\'{{"id": "a1", "predicted_label": "MAYBE"}}\\n\')',
        "predictions.jsonl:1: unknown predicted_label, found",
    ),
    "no answer to most": (f'{WRITES}\'{{"id": "a1", "predicted_label": "REFUTES"}}\\n\')', "3 ids are missing"),
    "no predictions": ("print('I forgot')", "it wrote no /output/predictions.jsonl"),
    "a link": (
        'import os; os.symlink("/etc/passwd", "/output/predictions.jsonl")',
        "its predictions.jsonl is a symlink",
    ),
    "a crash": ('raise ValueError("no idea")', "it ended with a non-zero exit status (status 1)"),
    "no root": ('open("/root-owned", "w")', "Read-only file system"),
    "the network": (
        'import socket; socket.create_connection(("192.0.2.1", 80), timeout=5)',
        "Network is unreachable",
    ),
    "memory": ("x = bytearray(900_000_000)", "it needed more than 100000000 bytes of memory"),
}


@pytest.mark.parametrize("name", BAD)
def test_errors_of_a_system_are_reported(run: Any, build: Build, name: str) -> None:
    program, text = BAD[name]
    status, out, err = run(build(program), "--no-check", "--memory", "100MB", "--json")
    assert status == 2, err
    assert text in err
    assert json.loads(out)["ok"] is False


def test_a_system_that_takes_too_long(run: Any, build: Build) -> None:
    start = time.monotonic()
    status, out, err = run(build("import time\nwhile True: time.sleep(60)"), "--no-check", "--seconds", "2", "--json")
    assert status == 2
    assert "stopped at its limit of 2 seconds" in err
    assert json.loads(out)["verdict"] == "time"
    assert time.monotonic() - start < 55  # stopped before its own end


@pytest.mark.parametrize(("line", "code"), [("VOLUME /data", "volume"), ("WORKDIR /proc/self", "config")])
@pytest.mark.parametrize("more", [(), ("--no-check",)])
def test_an_image_that_a_server_refuses_is_refused(
    run: Any, build: Build, line: str, code: str, more: tuple[str, ...]
) -> None:
    status, out, err = run(build(container_images.answering(LABELS), line), "--json", *more)
    assert status == 2
    assert f"the image is refused ({code})" in err
    assert json.loads(out)["code"] == code
    assert not Path("predictions.jsonl").exists()


def test_an_image_is_checked_as_on_the_server(run: Any, build: Build, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it runs, unless the check is omitted: this image's layers are too large for the limit set here."""
    small = functools.partial(image_reader.read_image, limits=image_reader.ImageLimits(unpacked_bytes=1 << 20))
    monkeypatch.setattr(engine, "read_image", small)
    image = build(container_images.answering(LABELS))
    status, _, err = run(image)
    assert (status, "the image is refused (too_large)" in err) == (2, True), err
    status, _, err = run(image, "--no-check")
    assert status == 0, err


def test_an_invalid_archive_is_refused(run: Any) -> None:
    Path("image.tar").write_bytes(b"this is no archive" * 1000)
    status, _, err = run("image.tar")
    assert (status, "the image is refused (archive)" in err) == (2, True), err


def test_an_unknown_image_and_an_unknown_runtime(run: Any, build: Build) -> None:
    status, _, err = run("no-such-image:ever")
    assert (status, "expected a tag or an id that the engine has" in err) == (64, True), err
    status, _, err = run(build("pass"), "--no-check", "--runtime", "no-such-runtime")
    assert (status, "the engine has no runtime no-such-runtime" in err) == (4, True), err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_removes_its_container(build: Build, folder: Path, number: signal.Signals) -> None:
    image = build("import time\ntime.sleep(600)")
    command = [sys.executable, "-m", "evaluator", "run", image, "--no-check", "--task", "fact-verification"]
    with subprocess.Popen(
        [*command, "--inputs", "inputs.jsonl"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    ) as process:
        deadline = time.monotonic() + 60
        while not docker("ps", "--quiet", "--filter", f"ancestor={image}"):
            assert time.monotonic() < deadline and process.poll() is None
            time.sleep(0.1)
        process.send_signal(number)
        assert process.wait(60) == 130
        assert process.stderr and b"interrupted" in process.stderr.read()
    assert docker("ps", "--all", "--quiet", "--filter", f"ancestor={image}") == ""
