"""Fixtures for systems in containers of a real engine; without an engine or a base image, tests are skipped."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluator.sandbox.containers.backend import ContainerBackend, Promise
from evaluator.sandbox.containers.docker import DockerSandbox
from evaluator.sandbox.containers.image_reader import read_image
from evaluator.sandbox.containers.podman import Podman, PodmanSandbox
from tests.container import engine
from tests.container.systems.running import PodmanSystems, Systems, known_runtimes

HERE = Path(__file__).parent
BRIEF = {
    "test_fork_bomb",
    "test_no_capability_seccomp_on_no_new_privileges",
}
"""Tests that always run under gVisor too; the others take minutes there and only run in the full run."""
ON_PODMAN = {"test_greedy", "test_reach", "test_output", "test_images_made", "test_backends"}
"""Modules whose tests also run on Podman; the others are about Docker."""
BASE = os.environ.get("TEST_BASE_IMAGE", "holdout-base")


def missing() -> str:
    if not shutil.which("docker") or engine.docker("version", check=False).returncode:
        return "needs a running Docker engine: apt-get install docker.io, then dockerd"
    if engine.docker("image", "inspect", BASE, check=False).returncode:
        return f"needs the image {BASE}, any with python3: .ci/base-image {BASE} FOLDER (or set TEST_BASE_IMAGE)"
    return ""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items[:] = [item for item in items if "[podman" not in item.name or item.path.stem in ON_PODMAN]
    ours = [item for item in items if HERE in item.path.parents]
    why = missing() if ours else ""
    for item in ours:
        item.add_marker(pytest.mark.engine)
        if isinstance(item, pytest.Function) and "runsc" in item.name and item.originalname not in BRIEF:
            item.add_marker(pytest.mark.slow)
        if "[podman" in item.name:
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


@pytest.fixture(scope="session", params=["runc", "runsc", "podman"])
def backend(request: pytest.FixtureRequest) -> str:
    """Run each test that needs a container under each runtime of this engine, and on Podman."""
    name: str = request.param
    if name == "podman":
        if os.geteuid() or not shutil.which("podman"):
            pytest.skip("needs root and podman: apt-get install podman")
    elif name not in known_runtimes():
        pytest.skip(f"needs the runtime {name}, which this engine does not have")
    return name


@pytest.fixture(scope="session")
def runtime(backend: str) -> str:
    return "runc" if backend == "podman" else backend


@pytest.fixture(scope="session")
def podman_options() -> Iterator[list[str]]:
    """Use a storage of our own, which is removed with all its mounts."""
    folder = tempfile.mkdtemp(prefix="podman-")  # Podman refuses longer paths, such as those of tmp_path
    yield ["--root", f"{folder}/root", "--runroot", f"{folder}/run", "--tmpdir", f"{folder}/tmp"]
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for path in sorted((path for path in mounts if path.startswith(f"{folder}/")), reverse=True):
        subprocess.run(["umount", path], check=False)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def sandbox(backend: str, runtime: str, request: pytest.FixtureRequest) -> ContainerBackend:
    instance = f"test-{secrets.token_hex(4)}"
    made: ContainerBackend = DockerSandbox(instance=instance, runtime=runtime)
    if backend == "podman":
        options = request.getfixturevalue("podman_options")
        made = PodmanSandbox(instance=instance, runtime=runtime, options=options, waived=frozenset({Promise.LOG}))
    made.layers()
    return made


@pytest.fixture(scope="session")
def image(backend: str, sandbox: ContainerBackend, program: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the id of the program's image on the backend."""
    if backend == "podman":
        path = tmp_path_factory.mktemp("image") / "image.tar"
        engine.docker("save", "--output", str(path), program)
        with path.open("rb") as archive:
            assert sandbox.load(read_image(archive.fileno())).id == program
        path.unlink()
    return program


@pytest.fixture
def systems(
    request: pytest.FixtureRequest, backend: str, sandbox: ContainerBackend, image: str, tmp_path: Path
) -> Iterator[Systems]:
    """Check after each test that nothing is left on the host, and after harmful tests that an honest run succeeds."""
    made = Systems(sandbox, image, tmp_path)
    if backend == "podman":
        made = PodmanSystems(sandbox, image, tmp_path, Podman(request.getfixturevalue("podman_options")))
    yield made
    made.check_nothing_is_left()
    if request.module.__name__.endswith(("test_greedy", "test_faults", "test_reach")):
        made.check_an_honest_run()
