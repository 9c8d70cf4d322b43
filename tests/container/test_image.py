"""The image: its user, its permissions, and the sandbox inside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.container import engine
from tests.container.composed import eventually
from tests.support.full_run import FULL
from tests.support.seeded_site import prepare_data

LOCKED = ("--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges:true")


def test_it_runs_as_an_ordinary_user() -> None:
    assert engine.run("id", "-u").stdout.strip() == "10001"


def test_code_is_read_only() -> None:
    result = engine.run("find", "/app", "/opt/holdout", "-writable", "-not", "-type", "l", "-print", "-quit")
    assert (result.returncode, result.stdout) == (0, "")


def test_image_contains_no_secret() -> None:
    inside = engine.run(
        "find", "/data", "/app", "-name", "secret_key", "-o", "-name", "*.sqlite3", "-o", "-name", ".env"
    )
    assert inside.stdout == ""
    assert "SECRET" not in engine.docker("history", "--no-trunc", "--format", "{{.CreatedBy}}", engine.IMAGE).stdout


@pytest.mark.hostile
@pytest.mark.parametrize("user", ["holdout", "root"])
@pytest.mark.parametrize("options", [(), LOCKED], ids=["default", "locked"])
def test_sandbox_has_its_required_layers(user: str, options: tuple[str, ...]) -> None:
    probe = engine.run("python", "-m", "evaluator.sandbox.process.server", "--probe", user=user, options=options)
    assert probe.returncode == 0, probe.stderr
    required = [line.split() for line in probe.stdout.splitlines() if line.endswith("required")]
    assert {name for name, *_ in required} >= {"no_new_privs", "rlimits", "seccomp", "descriptors"}
    assert all(value == "yes" for _, value, _ in required)


def test_one_container_runs_the_whole_site_and_stops_on_a_signal(tmp_path: Path) -> None:
    """In the full run it starts from an empty folder, which takes a minute longer."""
    data = ("--tmpfs", "/data:uid=10001,gid=10001,mode=0700")
    if not FULL:
        prepare_data(tmp_path / "data")
        for path in (tmp_path / "data", *(tmp_path / "data").rglob("*")):
            os.chown(path, 10001, 10001)
        data = ("--volume", f"{tmp_path / 'data'}:/data")
    # The image's own command, without the demonstration.
    command = ("python", "manage.py", "serve", "--host", "0.0.0.0", "--no-seed")
    name = engine.docker(
        "run", "--detach", "--publish", "127.0.0.1::8000", *data, engine.IMAGE, *command
    ).stdout.strip()
    try:
        address = engine.docker("port", name, "8000").stdout.splitlines()[0]
        eventually(f"http://{address}/health/ready", lambda answer: answer.status == 200)
        engine.docker("stop", "--time", "60", name)
        assert engine.docker("inspect", "--format", "{{.State.ExitCode}}", name).stdout.strip() == "0"
        assert "stopped; the data remain in /data" in engine.docker("logs", name).stdout
    finally:
        engine.docker("rm", "--force", name, check=False)
