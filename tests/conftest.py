"""What every test may ask for."""

from __future__ import annotations

import functools
import os
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# Several modules name them as plugins; only what is registered before its first import explains its assertions.
pytest.register_assert_rewrite(
    "tests.support.workers.running_stack",
    "tests.support.workers.killed_workers",
    "tests.support.container_images",
    "tests.support.hosted_imports",
    "tests.support.image_fixtures",
)

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # What a shell runs in the background ignores it, and hands that on to whatever the tests start and interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure() -> None:
    from django.db.backends.signals import connection_created

    connection_created.connect(_reverse_what_has_no_order, dispatch_uid="no order is taken for granted")
    if os.environ.get("HOLDOUT_DATABASE_URL", "").startswith("postgres"):
        from tests.support import postgres_truncate as flushing

        flushing.install()


def _reverse_what_has_no_order(*, connection: Any, **_: Any) -> None:
    """Rows that nobody put in order come in that of the table on SQLite, and in any on PostgreSQL. Here they come the
    other way round, so that whoever takes the order for granted is seen at once."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA reverse_unordered_selects = ON")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip, visibly, what this machine cannot do."""
    for item in items:
        if item.get_closest_marker("realdata") and not DATA.is_dir():
            item.add_marker(pytest.mark.skip(reason="the published files are not in ../shared/data"))
        if item.get_closest_marker("root") and os.geteuid() != 0:
            item.add_marker(pytest.mark.skip(reason="needs root"))
        if item.get_closest_marker("browser") and not Path("/usr/bin/chromium").exists():
            item.add_marker(pytest.mark.skip(reason="needs Chromium: apt-get install chromium"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """What a parallel run (-n) keeps together: a file; all that needs an engine; all that needs the browser's site.

    Not by xdist's own groups: pytest-xdist 3.8 writes them where pytest 9.2 no longer looks.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByPart(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _part(nodeid.partition("::")[0])

    return ByPart(config, log)


@functools.cache
def _part(path: str) -> str:
    if path.startswith("tests/browser/"):
        return "browser"
    if path.startswith("tests/container/") or "pytest.mark.engine" in (ROOT / path).read_text(encoding="utf-8"):
        return "engine"
    return path


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Each test process clones one migrated database."""
    from django.db import connection

    from tests.support import schema_template

    schema_template.use(connection)


@pytest.fixture(scope="session")
def realdata() -> Path:
    """The folder of published files."""
    return DATA


@pytest.fixture(scope="session")
def sandbox() -> Iterator[str]:
    """A sandbox server of this test process, where the site expects it."""
    from django.conf import settings

    from evaluator import code_digest as sources
    from evaluator.sandbox.process.client import ProcessSandbox
    from evaluator.sandbox.process.launch import start

    server = start(settings.SANDBOX_SOCKET)
    # A file that is saved between the start of the tests and this moment would have every upload refused.
    sources.SHA256 = ProcessSandbox(settings.SANDBOX_SOCKET).code()
    yield settings.SANDBOX_SOCKET
    server.terminate()
    server.wait()


@pytest.fixture
def hung_up() -> Iterator[str]:
    """The socket of a sandbox server that takes every connection and hangs up, as one that dies at work does."""
    # A socket's path must be short.
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        path = f"{folder}/sandbox.sock"
        listener.bind(path)
        listener.listen()

        def serve() -> None:
            try:
                while True:
                    listener.accept()[0].close()
            except OSError:
                return

        thread = threading.Thread(target=serve)
        thread.start()
        yield path
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()
