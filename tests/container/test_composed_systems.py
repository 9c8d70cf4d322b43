"""The profile `systems` of compose.yaml: a worker with an engine but no gold runs images submitted by the API."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.container.composed import Services, eventually, request
from tests.container.test_composed import PREDICTIONS, token_of
from tests.support import container_images

PHASE = "/api/v1/benchmarks/mirror-claims/phases/test"


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Build an image with the predictions of one of the demonstration's files."""
    if why := container_images.missing():
        pytest.skip(why)
    answers = {line["id"]: line["predicted_label"] for line in map(json.loads, PREDICTIONS.read_text().splitlines())}
    return Path(
        container_images.archive_of(container_images.answering(answers), tmp_path_factory.mktemp("image"))
    ).read_bytes()


def test_systems_worker_runs_an_image_and_scoring_worker_scores_it(site: Services, archive: bytes) -> None:
    benchmark = f"{site.address}/api/v1/benchmarks/mirror-claims/"
    eventually(benchmark, lambda answer: any(phase["images_run"] for phase in answer.json()["phases"]))
    headers = {"Authorization": f"Token {token_of(site)}"}
    as_json = {"Content-Type": "application/json", **headers}
    tus = {"Tus-Resumable": "1.0.0", "Content-Type": "application/offset+octet-stream", **headers}
    created = request(f"{site.address}{PHASE}/image-uploads/", b"", **tus, **{"Upload-Length": str(len(archive))})
    assert created.status == 201, created.body
    upload = created.json()
    for offset in range(0, len(archive), upload["chunk_bytes"]):
        chunk = archive[offset : offset + upload["chunk_bytes"]]
        override = {"X-HTTP-Method-Override": "PATCH", "Upload-Offset": str(offset)}
        response = request(upload["url"], chunk, **tus, **override)
        assert response.status == 204, response.body
    submitted = request(upload["submission"], json.dumps({"system": "Composed image"}).encode(), **as_json)
    assert submitted.status == 201, submitted.body
    submission = eventually(submitted.json()["url"], lambda answer: answer.json()["is_over"], **headers).json()
    assert submission["state"] == "done", (
        submission,
        site.compose("logs", "--no-color", "systems", check=False).stdout[-3000:],
    )
    board = request(f"{site.address}{PHASE}/leaderboard/").json()["rows"]
    scores = {row["system"]: row["scores"] for row in board}
    assert scores["Composed image"] and scores["Composed image"] == scores["Word overlap with negation"]


def test_systems_worker_cannot_read_gold(site: Services) -> None:
    refused = site.inside("systems", "ls", "/data/files/gold")
    assert "Permission denied" in refused.stderr
    assert site.inside("systems", "ls", "/var/run/docker.sock").returncode == 0
    assert site.inside("worker", "ls", "/var/run/docker.sock").returncode != 0
