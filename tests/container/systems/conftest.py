"""Fixtures for systems in containers of a real engine; without an engine or a base image, tests are skipped."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluator.sandbox.containers.docker import DockerSandbox
from tests.container import engine
from tests.container.systems.running import Systems, known_runtimes

HERE = Path(__file__).parent
BRIEF = {
    "test_fork_bomb",
    "test_no_capability_seccomp_on_no_new_privileges",
}
"""Tests that always run under gVisor too; the others take minutes there and only run in the full run."""
BASE = os.environ.get("TEST_BASE_IMAGE", "holdout-base")


def missing() -> str:
    if not shutil.which("docker") or engine.docker("version", check=False).returncode:
        return "needs a running Docker engine: apt-get install docker.io, then dockerd"
    if engine.docker("image", "inspect", BASE, check=False).returncode:
        return f"needs the image {BASE}, any with python3: .ci/base-image {BASE} FOLDER (or set TEST_BASE_IMAGE)"
    return ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ours = [item for item in items if HERE in item.path.parents]
    why = missing() if ours else ""
    for item in ours:
        item.add_marker(pytest.mark.engine)
        if isinstance(item, pytest.Function) and "runsc" in item.name and item.originalname not in BRIEF:
            item.add_marker(pytest.mark.slow)
        if why:
            item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture(scope="session")
def program() -> Iterator[str]:
    """Build the image of `program.py`; yield its id.

    It has a tag, because with the last variant of an untagged image the engine also removes that image.
    """
    tag = f"holdout-test-program:{secrets.token_hex(4)}"
    yield engine.docker("build", "--quiet", "--tag", tag, "--build-arg", f"BASE={BASE}", str(HERE)).stdout.split()[-1]
    engine.docker("rmi", tag, check=False)


@pytest.fixture(scope="session", params=["runc", "runsc"])
def runtime(request: pytest.FixtureRequest) -> str:
    """Run each test that needs a container under each runtime of this engine."""
    name: str = request.param
    if name not in known_runtimes():
        pytest.skip(f"needs the runtime {name}, which this engine does not have")
    return name


@pytest.fixture(scope="session")
def sandbox(runtime: str) -> DockerSandbox:
    made = DockerSandbox(instance=f"test-{secrets.token_hex(4)}", runtime=runtime)
    made.layers()
    return made


@pytest.fixture
def systems(request: pytest.FixtureRequest, sandbox: DockerSandbox, program: str, tmp_path: Path) -> Iterator[Systems]:
    """Check after each test that nothing is left on the host, and after harmful tests that an honest run succeeds."""
    made = Systems(sandbox, program, tmp_path)
    yield made
    made.check_nothing_is_left()
    if request.module.__name__.endswith(("test_greedy", "test_faults", "test_reach")):
        made.check_an_honest_run()
