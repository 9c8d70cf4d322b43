"""The reference systems as images: built without a registry, submitted as users do, run, scored, on the boards."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.test import Client

from evaluator.jobs import JOBS
from leaderboard.accounts.actions import teams
from leaderboard.benchmarks import manifest
from leaderboard.containers.actions import workers
from leaderboard.hosting import build_image, host
from leaderboard.models import Image, Phase, Prediction, Run, Standing, State, Submission, User
from leaderboard.operations import demo, processes
from tests.support import container_images
from tests.support.api_calls import client_of
from tests.support.reference_systems import FIXTURES, answers, public
from tests.support.workers.running_stack import Stack

pytest_plugins = ["tests.support.workers.running_stack"]
pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(bool(container_images.missing()), reason=container_images.missing()),
]
BUILT = ("atlas-facts", "graph-claims", "mirror-claims", "open-facts")
# Name on the board: benchmark, folder, content of its image.
SYSTEMS = {
    "Majority label, in a container": ("mirror-claims", "majority", "splits/train.jsonl"),
    "Claim-only, in a container": ("mirror-claims", "claim-only", "splits/train.jsonl"),
    "PREDICT-WITH-REL, in a container": ("open-facts", "predict-with-rel", "train/triples.tsv"),
    "PREDICT-WITH-ENT, in a container": ("open-facts", "predict-with-ent", "train/triples.tsv"),
    "Knowledge Linker, in a container": ("graph-claims", "knowledge-linker", "graph/triples.tsv"),
    "Pattern extractor, in a container": ("atlas-facts", "pattern-extractor", "splits/train.jsonl"),
}


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


@pytest.fixture(scope="module")
def fixtures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The benchmarks that have a reference system, without systems submitted as files."""
    folder = tmp_path_factory.mktemp("fixtures")
    shutil.copytree(FIXTURES / "systems", folder / "systems")
    shutil.copy(FIXTURES / ".dockerignore", folder)
    for name in BUILT:
        shutil.copytree(FIXTURES / name, folder / name)
        plan = json.loads((folder / name / "benchmark.json").read_text())
        plan["systems"] = [system for system in plan["systems"] if "image" in system]
        (folder / name / "benchmark.json").write_text(json.dumps(plan))
    return folder


def seed(fixtures: Path) -> str:
    output = io.StringIO()
    call_command("seed", fixtures=fixtures, stdout=output)
    return output.getvalue()


def score(name: str, folder: Path) -> float:
    """Primary measure of a system that runs here, without an engine, computed by the sandbox's own functions."""
    benchmark, system, data = SYSTEMS[name]
    gold = (FIXTURES / benchmark / "splits" / "test.jsonl").read_bytes()
    task = json.loads((FIXTURES / benchmark / "benchmark.json").read_text())["task"]
    options = {"task": task, "options": {}, "resamples": 0, "seed": 0}
    _, inputs = JOBS["prepare_gold"]({"gold": io.BytesIO(gold)}, {"task": task, "gold_name": "gold.jsonl"})
    folder.mkdir()
    answers(system, folder, {Path(data).name: public(benchmark, data)}, [json.loads(i) for i in inputs.splitlines()])
    predictions = io.BytesIO((folder / "predictions.jsonl").read_bytes())
    names = {"gold_name": "gold.jsonl", "predictions_name": "predictions.jsonl"}
    scored, _ = JOBS["score"]({"gold": io.BytesIO(gold), "predictions": predictions}, {**options, **names})
    (value,) = (
        row["value"] for row in scored["result"]["scores"] if row["measure"] == scored["primary"] and not row["slice"]
    )
    return float(value)


def test_seeding_puts_them_on_the_boards(containers: Stack, fixtures: Path, tmp_path: Path, monkeypatch: Any) -> None:
    output = seed(fixtures)
    assert output.count("built and submitted as a container image") == len(SYSTEMS), output + containers.said()
    states = {p.submission.system.name: (p.state, p.reason, p.log) for p in Prediction.objects.all()}
    assert {name: state for name, (state, *_) in states.items()} == dict.fromkeys(SYSTEMS, State.DONE), states
    standings = {row.system.name: row for row in Standing.objects.select_related("system", "leaderboard__phase")}
    assert standings.keys() == SYSTEMS.keys()
    for number, name in enumerate(SYSTEMS):
        assert standings[name].leaderboard.phase.benchmark.slug == SYSTEMS[name][0]
        assert standings[name].value == pytest.approx(score(name, tmp_path / str(number)), abs=1e-9), name
    claim_only = standings["Claim-only, in a container"].release
    (values,) = (value for value in claim_only.values if value["measure"] == "accuracy" and not value["slice"])
    assert values["value"] == 0.5
    assert values["low"] <= 0.5 <= values["high"]
    assert "Claim-only, in a container" in Client().get("/benchmarks/mirror-claims/test/").content.decode()

    counts = [model.objects.count() for model in (Submission, Prediction, Run, Image)]
    monkeypatch.setattr(build_image, "built_archive", lambda **_: pytest.fail("what is there was built again"))
    second_output = seed(fixtures)
    assert "built and submitted" not in second_output
    assert "skipped" not in second_output
    assert counts == [model.objects.count() for model in (Submission, Prediction, Run, Image)]


def test_web_and_api_accept_the_same_image(containers: Stack, fixtures: Path) -> None:
    curator = User.objects.create_user("curator", "curator@holdout.example", "correct horse", is_curator=True)
    ada = User.objects.create_user("ada", "ada@holdout.example", "correct horse")
    teams.create(name="Analytical Engines", by=ada)
    folder = fixtures / "mirror-claims"
    host.host(manifest=manifest.read(folder / "benchmark.json"), folder=folder, by=curator)
    with build_image.built_archive(system=fixtures / "systems" / "claim-only", benchmark=folder) as archive:
        content = archive.read_bytes()

    web = Client()
    web.force_login(ada)
    page = "/benchmarks/mirror-claims/test/submit-image/"
    response = web.post(page, {"new_system": "By web", "note": "", "file": SimpleUploadedFile("image.tar.gz", content)})
    assert response.status_code == 302, response.content.decode()[-3000:]

    api = client_of(ada)
    root = "/api/v1/benchmarks/mirror-claims/phases/test"
    asked_for = {"name": "image.tar.gz", "bytes": len(content)}
    upload_response = api.post(f"{root}/images/", json.dumps(asked_for), content_type="application/json")
    assert upload_response.status_code == 201, upload_response.content
    upload = upload_response.json()
    for offset in range(0, len(content), upload["chunk_bytes"]):
        chunk = content[offset : offset + upload["chunk_bytes"]]
        chunk_response = api.post(f"{upload['chunks']}?offset={offset}", chunk, content_type="application/octet-stream")
        assert chunk_response.status_code == 200, chunk_response.content
    body = json.dumps({"system": "By API", "team": "Analytical Engines"})
    submitted = api.post(upload["submission"], body, content_type="application/json")
    assert submitted.status_code == 201, submitted.content

    assert Image.objects.count() == 1
    for submission in Submission.objects.all():
        follow_up(containers, submission)
    board = api.get(f"{root}/leaderboard/").json()
    assert {row["system"] for row in board["rows"]} == {"By web", "By API"}
    phase = Phase.objects.get(benchmark__slug="mirror-claims", slug="test")
    values = Standing.objects.filter(leaderboard__phase=phase).values_list("value", flat=True)
    assert list(values) == [0.5, 0.5]


def follow_up(stack: Stack, submission: Submission) -> None:
    prediction = submission.predictions.get()

    def over() -> bool:
        prediction.refresh_from_db()
        return bool(prediction.is_over)

    stack.follow(over, "the container")
    assert prediction.state == State.DONE, (prediction.reason, prediction.problems, prediction.log, stack.said())
    stack.wait_for(submission)


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
    learned = {name for name in listing.stdout.splitlines() if not name.startswith("systems/")}
    expected = {f"{benchmark}/{data}" for benchmark, _, data in SYSTEMS.values()}
    assert learned == expected | {"sourced-claims/splits/train.jsonl"}
