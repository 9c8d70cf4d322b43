"""Reports of errors to Sentry: they arrive, and have nothing but class, location and ids."""

from __future__ import annotations

import gzip
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import brotli
import pytest

from leaderboard.operations import error_reports
from tests.conftest import ROOT

SECRETS = {
    name: f"planted-{name}" for name in ("prediction", "gold", "token", "address", "cookie", "query", "local", "path")
}


class Sink(ThreadingHTTPServer):
    """Stands for Sentry, and records the envelopes that it gets."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.came: list[str] = []


class _Handler(BaseHTTPRequestHandler):
    server: Sink

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        content = {"gzip": gzip.decompress, "br": brotli.decompress}[self.headers["Content-Encoding"]](body)
        self.server.came.append(f"{self.headers}\n{content.decode()}")
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def sink() -> Iterator[Sink]:
    server = Sink()
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


# Requests to a page and to the API fail, and then the process itself.
FAILING = """
import json, sys
import django
django.setup()
from django.test import Client
from leaderboard.benchmarks.api.tasks import TasksView
from leaderboard.core.web import docs
secrets = json.loads(sys.argv[1])

def fail(*_):
    local = secrets["local"]
    raise RuntimeError(f"gold is {secrets['gold']}", local)

docs.rendered = TasksView.get = fail
client = Client(raise_request_exception=False, headers={"Authorization": f"Bearer {secrets['token']}"})
body = json.dumps({"predicted": secrets["prediction"], "email": secrets["address"] + "@holdout.example"})
client.cookies["other"] = secrets["cookie"]
for address in ("/docs/api/", "/api/v1/tasks/"):
    response = client.generic("GET", f"{address}?q={secrets['query']}", body, "application/json")
    assert response.status_code == 500, response
import logging
logging.getLogger("a.library").error("refused: %s", secrets["path"])
import sentry_sdk
sentry_sdk.flush(30)
fail()
"""


@pytest.mark.slow
def test_reports_of_a_process_arrive_without_planted_secrets(sink: Sink, tmp_path: Path) -> None:
    pytest.importorskip("sentry_sdk", reason="needs the package of requirements-sentry.lock")
    environment = {
        **os.environ,
        "HOLDOUT_DATA": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "HOLDOUT_HOSTS": "testserver",
        "SENTRY_DSN": f"http://key@127.0.0.1:{sink.server_port}/1",
    }
    command = [sys.executable, "-c", FAILING, json.dumps(SECRETS)]
    process = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert "gold is planted-gold" in process.stderr, process.stderr
    envelopes = "\n".join(sink.came)
    for name in ("django.request", "api_failed", "a.library", "process_failed"):
        assert f'"message":"{name}"' in envelopes
    assert '"error":"RuntimeError"' in envelopes and '"function":"fail"' in envelopes
    assert [secret for secret in SECRETS.values() if secret in envelopes] == []


def test_a_report_has_the_keys_of_the_log_and_nothing_of_the_event() -> None:
    message = {"event": "api_failed", "error": "KeyError", "at": "views.py:1", "request_id": "7", "text": "secret"}
    record = logging.LogRecord("leaderboard", logging.ERROR, "x.py", 1, message, (), None)  # type: ignore[arg-type]
    event = {
        **{"event_id": "1", "level": "error", "message": "secret", "logentry": {"message": "secret"}},
        **{"user": {"email": "secret"}, "request": {"data": "secret"}, "extra": {"a": "secret"}},
        **{"breadcrumbs": ["secret"], "server_name": "secret", "contexts": {"a": "secret"}, "modules": {"a": "secret"}},
    }
    report = error_reports.report(event, {"log_record": record})
    assert "secret" not in json.dumps(report)
    assert (report["event_id"], report["message"], report["tags"]["request_id"]) == ("1", "api_failed", "7")


def test_an_exceptions_text_is_not_reported() -> None:
    try:
        secret = "planted"
        raise ValueError(secret)
    except ValueError:
        info = sys.exc_info()
    report = error_reports.report({"exception": {"values": [{"value": "planted"}]}}, {"exc_info": info})
    assert "planted" not in json.dumps(report)
    (exception,) = report["exception"]["values"]
    assert exception["type"] == "ValueError"
    assert exception["stacktrace"]["frames"][-1]["function"] == "test_an_exceptions_text_is_not_reported"


@pytest.mark.slow
def test_sentry_is_not_imported_unless_it_is_configured() -> None:
    code = "import django; django.setup(); import sys; print('sentry_sdk' in sys.modules)"
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    assert subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, env=environment, text=True) == "False\n"
