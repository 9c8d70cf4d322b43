"""Slow clients attack the site; an honest page and an honest upload are answered while all of them are connected."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.core.files.base import ContentFile

from leaderboard.accounts.actions import tokens
from leaderboard.models import Download
from tests.support import nginx
from tests.support.api_calls import ROOT, SUBMIT, footprint, stored_files
from tests.support.rows.tiny_world import World, build, prediction_lines
from tests.support.slow_clients import SlowClients
from tests.support.web_server import served

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("sandbox")]
PAGE = f"{ROOT}/benchmarks/tiny/"
LARGE = 20_000_000
"""Bytes of a download that no socket buffers hold."""


@pytest.fixture
def world() -> World:
    world = build(quota_per_day=5)
    download = Download(dataset=world.benchmark.dataset, name="large", suffix=".bin", sha256="0" * 64, bytes=LARGE)
    download.file.save("large.bin", ContentFile(b"x" * LARGE))
    return world


@pytest.fixture(params=["alone", pytest.param("behind nginx", marks=nginx.needs_nginx)])
def start(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], int]]:
    """Provide a function that starts the site and returns its port."""
    with ExitStack() as stack:

        def start() -> int:
            alone = request.param == "alone"
            site = stack.enter_context(served(HOLDOUT_PROXY="false" if alone else "true"))
            port = urlsplit(site.address).port
            assert port
            return port if alone else stack.enter_context(nginx.in_front_of(port, tmp_path))

        yield start


def ask(port: int, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    answer = response.status, dict(response.getheaders()), response.read()
    connection.close()
    return answer


def test_slow_clients_hold_up_nobody(world: World, start: Callable[[], int]) -> None:
    _, secret = tokens.issue(by=world.researcher)
    headers = {"Authorization": f"Token {secret}", "Content-Type": "application/x-ndjson"}
    before = footprint()
    port = start()
    assert ask(port, "GET", PAGE)[0] == 200
    slow = SlowClients(port)
    slow.send_headers(40)
    slow.send_bodies(40, path="/accounts/login/", size=100_000)
    uploads = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    slow.send_bodies(24, path=f"{SUBMIT}?system=Slow", size=100_000_000, headers=uploads, start=b"x" * 500_000)
    slow.read_slowly(20, path="/benchmarks/tiny/downloads/large")
    with slow.connected():
        started = time.monotonic()
        page = ask(port, "GET", PAGE)[0]
        paged = time.monotonic()
        submitted = ask(port, "POST", f"{SUBMIT}?system=Bernoulli", prediction_lines(), **headers)[0]
        ended = time.monotonic()
        assert (page, submitted, slow.count_open()) == (200, 201, 124)
    print(f"\nunder attack: page {paged - started:.2f} s, upload {ended - paged:.2f} s")
    after = footprint()
    assert [after[model] - before[model] for model in ("Submission", "QuotaCharge", "Run")] == [1, 1, 1]
    assert len(stored_files()) == len(before["files"]) + 1


def test_the_site_refuses_bodies_before_they_are_sent(world: World) -> None:
    _, secret = tokens.issue(by=world.researcher)
    token, submit = {"Authorization": f"Token {secret}"}, f"{SUBMIT}?system=S"
    large = {"Content-Length": "300000000", "Content-Type": "application/x-ndjson"}
    chunked = {"Transfer-Encoding": "chunked", "Content-Type": "application/x-ndjson"}
    with served() as site:
        port = urlsplit(site.address).port
        assert port
        answers = [
            ask(port, "POST", submit, **large, **token),
            ask(port, "POST", submit, **large),
            ask(port, "POST", submit, b"0\r\n\r\n", **chunked, **token),
        ]
        login = ask(port, "POST", "/benchmarks/tiny/phases/test/submit/", **large)
    codes = [(status, json.loads(body)["code"]) for status, _, body in answers]
    assert codes == [(413, "too_large"), (401, "not_authenticated"), (411, "length_required")]
    assert (login[0], login[1]["Location"]) == (302, "/accounts/login/?next=/benchmarks/tiny/phases/test/submit/")
