"""A sandbox server in each environment, one at a time, shared by the tests of that environment."""

from __future__ import annotations

import os
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evaluator.sandbox.contract import Execution, Limits, Result
from evaluator.sandbox.process.client import ProcessSandbox
from evaluator.sandbox.process.launch import start
from tests.evaluator.sandbox.process.variants import ENVIRONMENTS, NOBODY, Environment, remove_shared, shared_folder

SECRET = "postgres://holdout:canary-of-the-environment@db/holdout"


@dataclass
class Box:
    """A running server and its client."""

    environment: Environment
    server: subprocess.Popen[bytes]
    client: ProcessSandbox
    log: Path

    def run(
        self, job: str, files: dict[str, int] | None = None, *, limits: Limits | None = None, **arguments: Any
    ) -> Result:
        execution = Execution(job=job, arguments=arguments, files=files or {}, limits=limits or Limits())
        return self.client.run(execution)


@pytest.fixture(scope="session", autouse=True)
def _clean_up() -> Iterator[None]:
    yield
    remove_shared()


def launch_at(environment: Environment, folder: Path, **more: Any) -> Box:
    log = folder / "log"
    with log.open("ab") as stderr:
        options: dict[str, Any] = environment.start | more
        server = start(folder / "s", jobs=options.pop("jobs", "hostile_jobs"), stderr=stderr.fileno(), **options)
    return Box(environment, server, ProcessSandbox(folder / "s"), log)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run attacks in every environment, and the other tests in two, because they differ at most by user."""
    if "environment" in metafunc.fixturenames:
        environments = ENVIRONMENTS if metafunc.module.__name__.endswith("test_attacks") else ENVIRONMENTS[:2]
        metafunc.parametrize(
            "environment", environments, ids=lambda environment: environment.name, indirect=True, scope="session"
        )


@pytest.fixture(scope="session")
def environment(request: pytest.FixtureRequest) -> Environment:
    environment: Environment = request.param
    if reason := environment.possible():
        pytest.skip(reason)
    return environment


@pytest.fixture(scope="session")
def box(environment: Environment) -> Iterator[Box]:
    """Start a server with a secret in the environment, like the site's."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOLDOUT_DATABASE_URL", SECRET)
        running = launch_at(environment, shared_folder(NOBODY if environment.user else None))
    yield running
    running.server.terminate()
    assert running.server.wait(30) == 0


@pytest.fixture
def own(environment: Environment) -> Iterator[Callable[..., Box]]:
    """Return a callable that starts servers which a test may break."""
    boxes: list[Box] = []

    def make(**more: Any) -> Box:
        folder = more.pop("folder", None) or shared_folder(NOBODY if environment.user else None)
        boxes.append(launch_at(environment, folder, **more))
        return boxes[-1]

    yield make
    for box in boxes:
        box.server.kill()
        box.server.wait()


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Callable[..., int]]:
    """Return a callable that creates read-only descriptors of files with given contents."""
    opened: list[int] = []

    def make(content: bytes, flags: int = os.O_RDONLY) -> int:
        path = tmp_path / f"file{len(opened)}"
        path.write_bytes(content)
        opened.append(os.open(path, flags))
        return opened[-1]

    yield make
    for descriptor in opened:
        os.close(descriptor)


@pytest.fixture(scope="session")
def neighbours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Create targets outside the sandbox: another run's gold that anybody may read, and servers open to anybody."""
    folder = shared_folder()
    folder.chmod(0o777)
    sibling = folder / "gold.jsonl"
    sibling.write_text("the gold of another run")
    sibling.chmod(0o644)
    abstract = f"holdout-{os.getpid()}"
    tcp = socket.create_server(("127.0.0.1", 0))
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(str(folder / "db"))
    (folder / "db").chmod(0o777)
    hidden = socket.socket(socket.AF_UNIX)
    hidden.bind("\0" + abstract)
    for listener in (tcp, unix, hidden):
        listener.listen()
        threading.Thread(target=_greet, args=[listener], daemon=True).start()
    yield {
        "path": str(sibling),
        "port": tcp.getsockname()[1],
        "unix": str(folder / "db"),
        "abstract": abstract,
        "folder": str(folder),
    }
    for listener in (tcp, unix, hidden):
        listener.close()


def _greet(listener: socket.socket) -> None:
    while True:
        try:
            client, _ = listener.accept()
        except OSError:
            return
        with client:
            client.sendall(b"hello")
