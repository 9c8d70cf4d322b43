"""The reference systems as images: built without a registry, submitted as users do, run, scored, on the boards."""

from __future__ import annotations

import fnmatch
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from evaluator.jobs import JOBS
from evaluator.reference_systems.base import System
from evaluator.reference_systems.registry import SYSTEMS
from leaderboard.benchmarks import manifest
from leaderboard.containers.actions import workers
from leaderboard.hosting import build_image
from leaderboard.models import Image, Prediction, Run, Standing, State, Submission
from leaderboard.operations import demo, processes
from leaderboard.work_queue import worker_status
from tests.support import container_images
from tests.support.reference_systems import FIXTURES, let_in
from tests.support.workers.running_stack import Stack

pytest_plugins = ["tests.support.workers.running_stack"]
pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(bool(container_images.missing()), reason=container_images.missing()),
]
IMAGES = {
    system.name: (path.parent, Path(system.image).name)
    for path in sorted(FIXTURES.glob("*/benchmark.json"))
    for system in manifest.read(path).systems
    if system.image and not system.later
}
"""Name on the board: folder of the benchmark, name of the folder in fixtures/systems. Of those in the first seeding."""
HAS_WHEELS = (FIXTURES.parent / "wheels").is_dir()
NEEDS_WHEELS = "needs the wheels of requirements-systems.lock for the base image's Python in wheels/"


@pytest.fixture
def containers(stack: Stack, settings: Any) -> Iterator[Stack]:
    """The stack with a worker that runs containers and has reported."""
    settings.BASE_IMAGE = container_images.BASE
    worker = stack.start_worker(command=processes.systems())
    assert workers.report().ready
    yield stack
    worker.stop()
    stack.workers.remove(worker)
    for image in Image.objects.exclude(digest=""):
        container_images._docker("image", "rm", image.digest)
    demo.logins().unlink(missing_ok=True)


def copied(folder: Path, benchmark: str, wanted: Callable[[dict[str, Any]], bool]) -> None:
    """Copy a benchmark of the demonstration with only the wanted systems."""
    shutil.copytree(FIXTURES / benchmark, folder / benchmark)
    plan = json.loads((folder / benchmark / "benchmark.json").read_text())
    plan["systems"] = [system for system in plan["systems"] if wanted(system)]
    (folder / benchmark / "benchmark.json").write_text(json.dumps(plan))


@pytest.fixture
def fixtures(tmp_path: Path) -> Path:
    """Mirror Claims with one system, the image of the majority label."""
    folder = tmp_path / "fixtures"
    shutil.copytree(FIXTURES / "systems", folder / "systems")
    shutil.copy(FIXTURES / ".dockerignore", folder)
    copied(folder, "mirror-claims", lambda system: system.get("image", "").endswith("/majority"))
    return folder


def seed(fixtures: Path) -> str:
    output = io.StringIO()
    call_command("seed", fixtures=fixtures, stdout=output)
    return output.getvalue()


def test_seeding_puts_an_image_on_the_board(containers: Stack, fixtures: Path, monkeypatch: Any) -> None:
    output = seed(fixtures)
    assert output.count("built and submitted as a container image") == 1, output + containers.said()
    prediction = Prediction.objects.get()
    assert prediction.state == State.DONE, (prediction.reason, prediction.log)
    standing = Standing.objects.select_related("leaderboard__phase__benchmark").get()
    assert standing.leaderboard.phase.benchmark.slug == "mirror-claims"
    assert standing.value == 0.5
    assert "Majority label, in a container" in Client().get("/benchmarks/mirror-claims/test/").content.decode()

    counts = [model.objects.count() for model in (Submission, Prediction, Run, Image)]
    monkeypatch.setattr(build_image, "built_archive", lambda **_: pytest.fail("what is there was built again"))
    second_output = seed(fixtures)
    assert "built and submitted" not in second_output
    assert "skipped" not in second_output
    assert counts == [model.objects.count() for model in (Submission, Prediction, Run, Image)]


@pytest.mark.slow
@pytest.mark.skipif(not HAS_WHEELS, reason=NEEDS_WHEELS)
def test_seeding_puts_all_images_on_the_boards(
    containers: Stack, fixtures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Building the base image may take longer than a report is valid, and no `beat` requests another.
    monkeypatch.setattr(worker_status, "FRESH", timedelta(days=1))
    shutil.rmtree(fixtures / "mirror-claims")
    for benchmark in sorted({folder.name for folder, _ in IMAGES.values()}):
        copied(fixtures, benchmark, lambda system: "image" in system and "later" not in system)
    call_command("seed", fixtures=fixtures, no_images=True, stdout=io.StringIO())
    output = seed(fixtures)
    assert output.count("built and submitted as a container image") == len(IMAGES), output + containers.said()
    images = Prediction.objects.filter(submission__kind=Submission.Kind.IMAGE)
    states = {p.submission.system.name: (p.state, p.reason, p.log) for p in images}
    assert {name: state for name, (state, *_) in states.items()} == dict.fromkeys(IMAGES, State.DONE), states
    shown = Standing.objects.filter(release__submission__kind=Submission.Kind.IMAGE)
    boards = dict(shown.values_list("system__name", "leaderboard__phase__benchmark__slug"))
    assert boards == {name: folder.name for name, (folder, _) in IMAGES.items()}
    assert shown.get(system__name="claim-only, in a container").value == 0.5


def folder_of(system: System) -> Path:
    """Return the folder of a system's image; its name may have the task, since two systems may have one name."""
    own = FIXTURES / "systems" / f"{system.name}-{system.tasks[0]}"
    return own if own.exists() else FIXTURES / "systems" / system.name


def data_of(system: System) -> tuple[str, Path, dict[str, Path]]:
    """Return a task of a system, public gold of it, and the files of its image by their names there."""
    text = (folder_of(system) / "Dockerfile").read_text()
    benchmark = re.findall(r"^ARG BENCHMARK=(.+)$", text, re.MULTILINE)
    patterns = [name for line in re.findall(r"^COPY (.+) /data/$", text, re.MULTILINE) for name in line.split()]
    names = [name.replace("${BENCHMARK}", *benchmark) for name in patterns]
    files = [FIXTURES / name for pattern in names for name in fnmatch.filter(let_in(), pattern)]
    task = manifest.read(FIXTURES / benchmark[0] / "benchmark.json").task if benchmark else ""
    if task not in system.tasks:
        return system.tasks[0], FIXTURES / "rated-summaries" / "splits" / "dev.jsonl", {f.name: f for f in files}
    return task, FIXTURES / benchmark[0] / "splits" / "dev.jsonl", {f.name: f for f in files}


@pytest.fixture(scope="module")
def base() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("django.conf.settings.BASE_IMAGE", container_images.BASE)
        build_image.build_reference_base()


@pytest.mark.slow
@pytest.mark.skipif(not HAS_WHEELS, reason=NEEDS_WHEELS)
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: f"{system.name} for {system.tasks[0]}")
def test_an_image_predicts_what_the_command_predicts(base: None, system: System, tmp_path: Path) -> None:
    task, gold, files = data_of(system)
    _, inputs = JOBS["prepare_gold"]({"gold": gold.open("rb")}, {"task": task, "gold_name": "gold.jsonl"})
    (tmp_path / "inputs.jsonl").write_bytes(inputs)
    dockerfile = folder_of(system) / "Dockerfile"
    built = container_images._docker("build", "--quiet", "--network", "none", "--file", str(dockerfile), str(FIXTURES))
    assert built.returncode == 0, built.stderr
    command = [sys.executable, "-m", "evaluator"]
    words = ["--task", task, "--inputs", "inputs.jsonl", "--output", "container.jsonl", "--no-check"]
    ran = subprocess.run(
        [*command, "run", built.stdout.strip(), *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(FIXTURES.parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    container_images._docker("image", "rm", built.stdout.strip())
    assert ran.returncode == 0, ran.stderr
    (line,) = re.findall(r"^CMD (.+)$", dockerfile.read_text(), re.MULTILINE)
    named = [str(files.get(word.removeprefix("/data/"), word)) for word in json.loads(line)]
    right = subprocess.run(
        [*command, "run-baseline", task, *named, "--inputs", "inputs.jsonl"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(FIXTURES.parent), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        check=True,
    )
    assert (tmp_path / "container.jsonl").read_bytes() == right.stdout
    assert len(right.stdout.splitlines()) > 10


def test_no_build_contains_a_hidden_answer(tmp_path: Path) -> None:
    (tmp_path / "Dockerfile").write_text("ARG BASE_IMAGE\nFROM ${BASE_IMAGE}\nCOPY . /context\n")
    shutil.copytree(FIXTURES, tmp_path / "all", ignore=shutil.ignore_patterns("__pycache__"))
    build = (
        "build",
        "--quiet",
        "--file",
        str(tmp_path / "Dockerfile"),
        "--build-arg",
        f"BASE_IMAGE={container_images.BASE}",
    )
    image = container_images._docker(*build, str(tmp_path / "all")).stdout.strip()
    program = (
        "import os; print(*sorted(f'{a}/{n}'[9:] for a, _, names in os.walk('/context') for n in names), sep=chr(10))"
    )
    listing = container_images._docker("run", "--rm", "--network", "none", image, "python3", "-c", program)
    container_images._docker("image", "rm", image)
    assert listing.returncode == 0, listing.stderr
    public = {name for name in listing.stdout.splitlines() if not name.startswith("systems/")}
    assert public == {*let_in()} - {"systems/"}
