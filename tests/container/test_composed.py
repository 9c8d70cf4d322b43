"""The production setup: an upload through the web container's API is scored by the worker's container."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.container.composed import Services, eventually, request
from tests.container.engine import ROOT

FOLDER = ROOT / "fixtures" / "mirror-claims"
PREDICTIONS = FOLDER / "predictions" / "test" / "negation-overlap.jsonl"
SUBMIT = "/api/v1/benchmarks/mirror-claims/phases/test/submissions/"


def test_every_service_is_healthy(site: Services) -> None:
    health = request(f"{site.address}/health/ready")
    assert health.json() == {"database": True, "broker": True, "sandbox": True, "disk": True, "store": True}
    assert (
        site.inside("worker", "sh", "-c", "celery -A leaderboard.celery inspect ping -d scoring@$HOSTNAME").returncode
        == 0
    )


def test_a_benchmark_of_the_demonstration_is_on_its_board(site: Services) -> None:
    board = request(f"{site.address}/api/v1/benchmarks/mirror-claims/phases/test/leaderboard/").json()
    assert len(json.dumps(board)) > 1000
    page = request(f"{site.address}/")
    assert page.status == 200
    assert b"Mirror Claims" in page.body


def test_upload_is_scored_like_on_the_command_line(site: Services) -> None:
    token = {"Authorization": f"Token {token_of(site)}"}
    response = request(
        f"{site.address}{SUBMIT}?system=Composed&name=mine.jsonl",
        PREDICTIONS.read_bytes(),
        **{"Content-Type": "application/jsonl", **token},
    )
    assert response.status == 201, response.body
    submission = eventually(response.json()["url"], lambda answer: answer.json()["is_over"], **token).json()
    assert submission["state"] == "done", submission
    scores = request(submission["scores"], **token).json()["scores"]
    shown = {(score["measure"], _key(score["slice"])): score["value"] for score in scores}
    for score in _by_command()["scores"]:
        assert shown[score["measure"], _key(score["slice"])] == pytest.approx(score["value"], abs=1e-12, nan_ok=False)


def test_bad_file_is_rejected_with_its_line(site: Services) -> None:
    answer = request(
        f"{site.address}{SUBMIT}?system=Composed&name=mine.jsonl",
        b'{"id": "nobody", "predicted_label": "MAYBE"}\n',
        **{"Content-Type": "application/jsonl", "Authorization": f"Token {token_of(site)}"},
    )
    assert answer.status == 422, answer.body
    assert b"mine.jsonl:1" in answer.body


@pytest.mark.parametrize("service", ["sandbox", "beat", "migrate"])
def test_other_services_have_no_gold(site: Services, service: str) -> None:
    config: dict[str, Any] = json.loads(site.compose("config", "--format", "json", check=False).stdout or "{}")
    if config:
        assert all("gold" not in json.dumps(mount) for mount in config["services"][service].get("volumes", []))
    if service != "migrate":
        listing = site.inside(service, "sh", "-c", "find / -name gold -not -path '/proc/*' -exec ls {} + 2>/dev/null")
        assert "jsonl" not in listing.stdout


def test_worker_has_read_only_gold(site: Services) -> None:
    assert site.inside("worker", "sh", "-c", "find /data/files/gold -type f | grep -q .").returncode == 0
    refused = site.inside("worker", "touch", "/data/files/gold/mine")
    assert "Read-only file system" in refused.stderr


def test_the_sandbox_has_no_network_and_no_secret(site: Services) -> None:
    names = site.python("sandbox", "import socket; print([name for _, name in socket.if_nameindex()])")
    assert names.stdout.strip() == "['lo']"
    environment = site.python("sandbox", "import os; print(*os.environ)").stdout.split()
    assert not [name for name in environment if name.startswith(("HOLDOUT_S", "HOLDOUT_DATABASE", "POSTGRES", "REDIS"))]


def token_of(site: Services) -> str:
    """Return an API token of a user of the demonstration."""
    logins = site.inside("web", "cat", "/data/demo-logins").stdout.splitlines()
    password = next(line.split()[1] for line in logins if line.startswith("ada "))
    issued = request(
        f"{site.address}/api/v1/auth/tokens/",
        json.dumps({"username": "ada", "password": password}).encode(),
        **{"Content-Type": "application/json"},
    )
    assert issued.status == 201, issued.body
    token: str = issued.json()["token"]
    return token


def _by_command() -> dict[str, Any]:
    gold = FOLDER / "splits" / "test.jsonl"
    command = [
        "-m",
        "evaluator",
        "score",
        "fact-verification",
        "--gold",
        gold,
        PREDICTIONS,
        "--resamples",
        "0",
        "--json",
    ]
    done = subprocess.run([sys.executable, *map(str, command)], cwd=ROOT, capture_output=True, check=True)
    scored: dict[str, Any] = json.loads(done.stdout)
    return scored


def _key(where: dict[str, Any]) -> str:
    return json.dumps(where, sort_keys=True)
