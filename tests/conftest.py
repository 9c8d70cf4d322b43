"""Fixtures and collection hooks of all tests."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

from tests.support import full_run

# Several modules load these as plugins; pytest rewrites assertions only in modules registered before their import.
pytest.register_assert_rewrite(
    "tests.support.workers.running_stack",
    "tests.support.workers.killed_workers",
    "tests.support.container_images",
    "tests.support.hosted_imports",
    "tests.support.image_fixtures",
)

ROOT = Path(__file__).resolve().parent.parent
EMBEDDED = (
    "leaderboard/accounts/test_teams.py",
    "leaderboard/boards/disclosure/test_best_shown.py",  # JSON in SQL
    "leaderboard/boards/test_as_of_choice.py",  # window functions
    "leaderboard/boards/test_board_pages.py",  # order and paging
    "leaderboard/boards/test_board_etags.py",
    "leaderboard/boards/test_standings.py",
    "leaderboard/containers/test_placement.py",  # turns in SQL
    "leaderboard/core/test_busy.py",  # locks
    "leaderboard/core/test_folder_broker.py",
    "leaderboard/curation/test_generations.py",
    "leaderboard/datasets/test_corrections.py",
    "leaderboard/models/test_constraints.py",
    "leaderboard/notifications/test_notices.py",
    "leaderboard/operations/test_sweeps.py",
    "leaderboard/operations/test_cleanup.py",
    "leaderboard/scoring/test_rescoring.py",
    "leaderboard/scoring/test_sealed.py",
    "leaderboard/submissions/test_api_submitting.py",
    "leaderboard/submissions/test_quotas.py",
    # Leases, the broker's messages, and moments in SQL.
    *(
        f"leaderboard/work_queue/test_{name}.py"
        for name in ("every_kind_of_work", "gate", "lost_messages", "skewed_clocks")
    ),
)
"""Tests that CI also runs on SQLite with folders as the broker: some for each kind of SQL, and one per feature."""
EMBEDDED_ONLY = ("docs/", "leaderboard/operations/test_serve.py", "leaderboard/operations/test_seed.py")
"""Tests that start their own sites with the embedded default, whatever database the other tests use."""
TOGETHER = {
    "composed services": ("tests/container/test_",),
    "one site": tuple(f"tests/browser/test_{name}.py" for name in ("admin", "error_pages", "images", "journey")),
    "another site": tuple(
        f"tests/browser/test_{name}.py"
        for name in (
            *("every_page", "frozen_pages", "cost_picture", "new_split", "drafts", "safety"),
            *("metadata", "plots", "weights"),
        )
    ),
}
"""What one process of a parallel run does: who asks for the site of browser tests first starts it in its process."""
LONG = (
    *("tests/browser/", "tests/container/", "tests/docs/", "tests/leaderboard/containers/"),
    *("tests/leaderboard/operations/", "tests/leaderboard/whole_site/", "tests/evaluator/curation/scenarios/"),
    "tests/evaluator/cli/local/test_run_command.py",
)
"""What a parallel run begins with: few tests that take long would be left to one process in the end."""
DATA = ROOT.parent / "shared" / "data"
BROWSER = os.environ.get("TEST_BROWSER", shutil.which("chromium-headless-shell") or shutil.which("chromium"))
"""Chromium without a window needs half of the processor time of the whole browser.

TEST_BROWSER names another one; empty: the tests run as on a machine without a browser.
"""
DAY_SECONDS = 86_400.0
MIDNIGHT_SECONDS = 20.0
"""No test begins so shortly before midnight (UTC): quotas, boards and pages are of a day, and a test expects one."""

MAX_GARBAGE = 2_000_000
"""Objects of which a test process leaves at most so many uncollected, about 300 MB."""
# The cyclic garbage collector takes a tenth of the time, of collecting tests too: `pytest_runtest_logfinish` collects.
gc.disable()
# Else jsonschema builds a grammar of IRIs on import, a tenth of the time of collecting tests. Our schemas have no IRIs.
sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Background processes of a shell ignore SIGINT, and the processes that the tests start would inherit this.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure() -> None:
    from django.db.backends.signals import connection_created

    from evaluator.tasks.registry import GROUP

    if installed := sorted({entry.dist.name for entry in entry_points(group=GROUP) if entry.dist is not None}):
        command = f"{sys.executable} -m pip uninstall {' '.join(installed)}"
        raise pytest.UsageError(f"the tests expect only the built-in tasks, but others are installed; run: {command}")

    connection_created.connect(_reverse_what_has_no_order, dispatch_uid="no order is taken for granted")
    from django.test import Client

    from tests.support import database_flush

    database_flush.install()
    Client._login = _log_in  # type: ignore[attr-defined]


def _log_in(self: Any, user: Any, backend: str | None = None) -> None:
    """Log in as Django's test client does, without first storing an empty session: half as many statements.

    The session has the record of a log-in by password at this moment.
    """
    from allauth.account.internal.flows.login import record_authentication
    from django.conf import settings
    from django.contrib.auth import login
    from django.contrib.sessions.backends.db import SessionStore
    from django.http import HttpRequest

    cookie = self.cookies.get(settings.SESSION_COOKIE_NAME)
    request = HttpRequest()
    request.session = SessionStore(cookie.value if cookie else None)
    login(request, user, backend)
    record_authentication(request, user, "password")
    request.session.save()
    self._set_login_cookies(request)


def _reverse_what_has_no_order(*, connection: Any, **_: Any) -> None:
    """Reverse the order of unordered queries, to reveal code that relies on it.

    SQLite returns such rows in the order of the table, PostgreSQL in any order.
    """
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA reverse_unordered_selects = ON")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that CI runs on the embedded default; skip, with a reason, those that this machine cannot run."""
    for item in items:
        full_run.mark(item)
        path = item.nodeid.removeprefix("tests/")
        if path.startswith(EMBEDDED_ONLY):
            item.add_marker(pytest.mark.embedded(only=True))
        elif path.startswith(EMBEDDED):
            item.add_marker(pytest.mark.embedded)
        if item.get_closest_marker("realdata") and not DATA.is_dir():
            item.add_marker(pytest.mark.skip(reason="needs the published files in ../shared/data"))
        if item.get_closest_marker("root") and os.geteuid() != 0:
            item.add_marker(pytest.mark.skip(reason="needs root"))
        if item.get_closest_marker("browser"):
            if not BROWSER:
                item.add_marker(pytest.mark.skip(reason="needs Chromium: apt-get install chromium-headless-shell"))
            # Chromium drops its connections, those to this machine too, whenever an interface of the machine gets or
            # loses an address, which a container of another test may do.
            item.add_marker(pytest.mark.flaky(reruns=2, only_rerun="net::ERR_NETWORK_CHANGED"))
    if hasattr(config, "workerinput"):
        many = Counter(item.path for item in items)
        items.sort(key=lambda item: (not item.nodeid.startswith(LONG), -many[item.path], str(item.path)))


def pytest_runtest_setup() -> None:
    left = DAY_SECONDS - time.time() % DAY_SECONDS
    if left < MIDNIGHT_SECONDS:
        time.sleep(left)


def pytest_collection_finish() -> None:
    gc.freeze()  # the little garbage, too: to search for it would take a second


def pytest_runtest_logfinish() -> None:
    if gc.get_count()[0] > MAX_GARBAGE:
        gc.collect()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Run the tests of a file, or of a part in TOGETHER, in one worker of a parallel run (-n).

    xdist's own groups do not work: pytest-xdist 3.8 stores them where pytest 9.2 no longer looks.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByPart(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = nodeid.partition("::")[0]
            return next((part for part, files in TOGETHER.items() if path.startswith(files)), path)

    config.option.loadscopereorder = False  # pytest_collection_modifyitems has put them in order
    return ByPart(config, log)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: Any) -> None:
    """Clone one migrated database for each test process."""
    from django.db import connection

    from tests.support import schema_template

    with django_db_blocker.unblock():
        schema_template.use(connection)


@pytest.fixture(scope="module")
def module_rows(django_db_setup: None, django_db_blocker: Any) -> Iterator[ExitStack]:
    """Yield what holds the transaction of a module's rows: tests/support/rows/module_rows.py."""
    with django_db_blocker.unblock(), ExitStack() as rows:
        yield rows


@pytest.fixture(scope="session")
def realdata() -> Path:
    """Return the folder of published files."""
    return DATA


@pytest.fixture(scope="session")
def sandbox() -> Iterator[str]:
    """Start a sandbox server of this test process, on the socket that the site expects; yield the socket's path."""
    from django.conf import settings

    from evaluator import code_digest
    from evaluator.sandbox.process.client import ProcessSandbox
    from evaluator.sandbox.process.launch import start

    server = start(settings.SANDBOX_SOCKET)
    # Without this, a source file saved since the start of the tests would make the site refuse every upload.
    code_digest.SHA256 = ProcessSandbox(settings.SANDBOX_SOCKET).code()
    yield settings.SANDBOX_SOCKET
    server.terminate()
    server.wait()


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Start the browser of this test process; Playwright can be started only once per process."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=60_000)  # the site shares the processors with other tests
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=BROWSER, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def hung_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Yield the socket of a sandbox server that accepts and closes every connection, like one that dies at work.

    Workers take it for ready, since it responds between two jobs.
    """
    monkeypatch.setattr("leaderboard.evaluation.sandbox_client.answers", lambda: True)
    # Unix sockets need a short path.
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
