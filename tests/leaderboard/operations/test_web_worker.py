"""The web server's I/O under slow and hostile clients: real sockets, an application of the test, two threads."""

from __future__ import annotations

import errno
import http.client
import json
import math
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.urls import reverse
from waitress import buffers, wasyncore
from waitress.task import ThreadedTaskDispatcher

from leaderboard.operations import processes, web_worker
from tests.support.slow_clients import SlowClients

PATIENCE = 60.0
LARGE = 20_000_000
"""Bytes of a response that no socket buffers hold."""
SESSION = "Cookie: sessionid=any\r\n"


@dataclass
class Application:
    """A WSGI application: `/stream` and `/file` return LARGE bytes, other paths return the received body.

    requests: (method, path, body, environ) of each request so far.
    """

    file: Path
    requests: list[tuple[str, str, bytes, dict[str, Any]]] = field(default_factory=list)

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        path, body = environ["PATH_INFO"], environ["wsgi.input"].read()
        self.requests.append((environ["REQUEST_METHOD"], path, body, environ))
        if path == "/stream":
            start_response("200 OK", [("Content-Length", str(LARGE))])
            return (b"x" * 100_000 for _ in range(LARGE // 100_000))
        if path == "/file":
            start_response("200 OK", [("Content-Length", str(LARGE))])
            return environ["wsgi.file_wrapper"](self.file.open("rb"))
        start_response("200 OK", [("Content-Length", str(len(body)))])
        return [body]


@dataclass
class Running:
    server: web_worker.Server
    application: Application
    port: int

    def connect(self, *, source: str = "127.0.0.1") -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE, source_address=(source, 0))

    def ask(self, body: bytes = b"", **headers: str) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request("POST", "/echo", body, headers)
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return response.status, content


@contextmanager
def running(folder: Path) -> Iterator[Running]:
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)
    dispatcher, sockets = ThreadedTaskDispatcher(), dict[int, Any]()
    dispatcher.set_thread_count(2)
    application = Application(folder / "large")
    application.file.write_bytes(b"x" * LARGE)
    server = web_worker.serve(application, listener, dispatcher, sockets)
    stopping = threading.Event()

    def loop() -> None:
        while not stopping.is_set():
            wasyncore.loop(timeout=web_worker.CHECK_SECONDS, use_poll=True, map=sockets, count=1)
            server.check_channels()

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield Running(server, application, listener.getsockname()[1])
    finally:
        stopping.set()
        server.pull_trigger()
        thread.join()
        wasyncore.close_all(sockets)
        dispatcher.shutdown()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Running]:
    reverse("docs_page", args=["error-codes"])  # errors link to it: the first one would load all addresses
    with running(tmp_path) as site:
        yield site


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_worker, "CHECK_SECONDS", 0.02)
    monkeypatch.setattr(web_worker, "WINDOW_SECONDS", 0.2)


def open_files() -> set[str]:
    """Return the files that this process has open, unlinked ones included."""
    links = [link for link in Path("/proc/self/fd").iterdir() if link.is_symlink()]
    return {target for target in map(os.readlink, links) if target.startswith("/")}


def response_on(client: socket.socket) -> bytes:
    """Return everything that the server sends until it closes the connection."""
    return b"".join(iter(lambda: client.recv(65536), b""))


def wait_for_no_connection(server: web_worker.Server) -> None:
    event = threading.Event()
    for _ in range(int(PATIENCE / 0.02)):
        if not server.active_channels:
            return
        event.wait(0.02)
    pytest.fail(f"connections are still open: {server.active_channels}")


def test_slow_clients_hold_no_thread(site: Running) -> None:
    slow = SlowClients(site.port, interval=0.05)
    slow.send_headers(40)
    slow.send_bodies(40, path="/echo", size=10_000)
    slow.send_bodies(24, path="/echo", size=100_000_000, headers=SESSION, start=b"x" * 500_000)
    slow.read_slowly(20, path="/stream")
    slow.read_slowly(20, path="/file")
    with slow.connected():
        assert site.ask(b"y" * 900_000) == (200, b"y" * 900_000)
        assert slow.count_open() == 144


def test_a_large_response_arrives_whole(site: Running) -> None:
    for path in ("/stream", "/file"):
        connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=PATIENCE)
        connection.request("GET", path)
        assert connection.getresponse().read() == b"x" * LARGE
        connection.close()


@pytest.mark.usefixtures("impatient")
def test_a_slow_request_is_answered_408_and_discarded(site: Running) -> None:
    head = f"POST /echo HTTP/1.1\r\nHost: x\r\n{SESSION}Content-Length: 5000000\r\n\r\n".encode()
    before = open_files()
    for first in (b"GET / HTTP/1.1\r\nX: ", head, head + b"x" * 600_000):
        with site.connect() as client:
            client.sendall(first)
            response = response_on(client)
            assert b" 408 Request Timeout\r\n" in response and b'"code": "request_timeout", ' in response
    wait_for_no_connection(site.server)
    assert site.application.requests == []
    assert open_files() == before


@pytest.mark.usefixtures("impatient")
def test_a_request_may_take_long_if_it_comes_fast_enough(site: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_worker, "WINDOW_BYTES", 1)
    monkeypatch.setattr(web_worker, "WINDOW_SECONDS", 1.0)
    head = f"POST /echo HTTP/1.1\r\nHost: x\r\n{SESSION}Content-Length: 1000000\r\nConnection: close\r\n\r\n"
    with site.connect() as steady, site.connect() as stuck:
        stuck.sendall(head.encode())
        steady.sendall(head.encode())
        stuck.settimeout(0.01)
        sent, response = 0, b""
        while not response:
            steady.sendall(b"x")
            sent += 1
            with suppress(TimeoutError):
                response = stuck.recv(65536)
        assert b" 408 " in response
        steady.sendall(b"x" * (1_000_000 - sent))
        assert response_on(steady).endswith(b"x" * 1_000_000)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("path", ["/stream", "/file"])
def test_a_slow_reader_is_disconnected(site: Running, path: str) -> None:
    with site.connect() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        assert client.recv(1) == b"H"
        wait_for_no_connection(site.server)


@pytest.mark.usefixtures("impatient")
def test_idle_connections_are_closed(site: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_worker, "IDLE_SECONDS", 1.0)
    with site.connect() as unused, site.connect() as used:
        used.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert response_on(used).startswith(b"HTTP/1.1 200 ")
        assert response_on(unused) == b""


def test_the_address_with_most_connections_loses_the_oldest(site: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_worker, "MAX_CONNECTIONS", 4)
    first = site.connect(source="127.0.0.2")
    many = [site.connect() for _ in range(6)]
    assert [response_on(client) for client in many[:3]] == [b""] * 3
    first.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert response_on(first).startswith(b"HTTP/1.1 200 ")
    for client in (first, *many):
        client.close()


@pytest.mark.usefixtures("impatient")
def test_too_many_bytes_of_uploads_end_the_largest_of_the_greediest(
    site: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web_worker, "WINDOW_SECONDS", PATIENCE)
    monkeypatch.setattr(web_worker, "MAX_BUFFERED_BYTES", 3_000_000)
    head = f"POST /echo HTTP/1.1\r\nHost: x\r\n{SESSION}Content-Length: 1600000\r\nConnection: close\r\n\r\n"
    with site.connect(source="127.0.0.2") as honest, site.connect() as greedy, site.connect() as greediest:
        site.server.next_check = math.inf  # until all have arrived
        for client, size in ((honest, 1_500_000), (greedy, 1_000_000), (greediest, 1_200_000)):
            client.sendall(head.encode() + b"x" * size)
        while sum(channel.buffered_bytes() for channel in [*site.server.active_channels.values()]) < 3_700_000:
            threading.Event().wait(0.01)
        site.server.next_check = 0.0
        response = response_on(greediest)
        assert response.startswith(b"HTTP/1.1 503 ") and b"\r\nRetry-After: " in response
        honest.sendall(b"x" * 100_000)
        assert response_on(honest).startswith(b"HTTP/1.1 200 ")


def test_the_bytes_of_a_refused_upload_no_longer_count(site: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the next check would end another upload, before a thread has sent the response to the first."""
    monkeypatch.setattr(site.server, "add_task", lambda channel: None)
    head = f"POST /echo HTTP/1.1\r\nHost: x\r\n{SESSION}Content-Length: 900000\r\n\r\n"
    with site.connect() as client:
        client.sendall(head.encode() + b"x" * 600_000)
        while not (channels := [one for one in [*site.server.active_channels.values()] if one.buffered_bytes()]):
            threading.Event().wait(0.01)
        (channel,) = channels
        channel.refuse(web_worker.RequestTimeout("too slow"))
        assert channel.buffered_bytes() == 0


@pytest.mark.usefixtures("impatient")
def test_small_requests_are_received_while_too_much_is_buffered(site: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_worker, "WINDOW_SECONDS", PATIENCE)
    monkeypatch.setattr(web_worker, "MAX_BUFFERED_BYTES", 0)
    head = f"POST /echo HTTP/1.1\r\nHost: x\r\n{SESSION}Connection: close\r\nContent-Length: "
    with site.connect() as small, site.connect() as large:
        small.sendall(f"{head}100001\r\n\r\n".encode() + b"x" * 100_000)
        large.sendall(f"{head}1000000\r\n\r\n".encode() + b"x" * 300_000)
        assert response_on(large).startswith(b"HTTP/1.1 503 ")
        small.sendall(b"x")
        assert response_on(small).endswith(b"x" * 100_001)


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Length": "2000000"},
        {"Content-Length": "300000000", "Authorization": "Token any"},
        {"Content-Length": "300000000", "Cookie": "sessionid=any"},
        {"Transfer-Encoding": "chunked"},
    ],
)
def test_a_refused_body_is_not_received(site: Running, headers: dict[str, str]) -> None:
    """The application gets the headers. The body is not read as another request, and the client gets the response."""
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    smuggled = b"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n" * 10_000
    with site.connect() as client:
        client.sendall(f"POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n{lines}\r\n".encode() + smuggled)
        assert response_on(client).startswith(b"HTTP/1.1 200 ")
    ((_, path, body, environ),) = site.application.requests
    assert (path, body) == ("/echo", b"")
    assert environ.get("CONTENT_LENGTH") == headers.get("Content-Length")
    assert environ.get("HTTP_TRANSFER_ENCODING") == headers.get("Transfer-Encoding")


def test_a_body_within_the_limit_is_continued(site: Running) -> None:
    with site.connect() as client:
        head = "POST /echo HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2000000\r\n"
        client.sendall(f"{head}{SESSION}Connection: close\r\n\r\n".encode())
        assert client.recv(65536) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"x" * 2_000_000)
        assert response_on(client).endswith(b"x" * 2_000_000)


def test_pipelined_requests_are_not_answered(site: Running) -> None:
    with site.connect() as client:
        client.sendall(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n" * 20)
        response = response_on(client)
    assert b"Connection: close\r\n" in response and len(response) < 2 * LARGE
    assert len(site.application.requests) == 1


def test_empty_lines_before_a_request_are_ignored(site: Running) -> None:
    with site.connect() as client:
        client.sendall(b"\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert response_on(client).startswith(b"HTTP/1.1 200 ")


def test_a_full_disk_is_507(site: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(buffers, "TempfileBasedBuffer", full)
    status, body = site.ask(b"x" * 1_000_000)
    assert (status, json.loads(body)["code"]) == (507, "disk_full")
    assert site.application.requests == []


def test_forwarded_headers_are_no_facts(site: Running) -> None:
    site.ask(**{"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1"})
    ((*_, environ),) = site.application.requests
    assert (environ["wsgi.url_scheme"], environ["REMOTE_ADDR"]) == ("http", "127.0.0.1")


APPLICATION = """
def application(environ, start_response):
    body = environ["wsgi.input"].read()
    start_response("200 OK", [("Content-Length", str(len(body)))])
    return [body]
"""


def test_a_stopping_server_finishes_requests(tmp_path: Path) -> None:
    (tmp_path / "stopping_application.py").write_text(APPLICATION)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        worker = "leaderboard.operations.web_worker.BufferingWorker"
        command = [
            *(sys.executable, "-m", "gunicorn", "stopping_application", "--bind", f"fd://{listener.fileno()}"),
            *("--worker-class", worker, "--threads", "1", "--pythonpath", str(tmp_path), "--no-control-socket"),
        ]
        process = subprocess.Popen(
            command,
            cwd=settings.ROOT,
            pass_fds=[listener.fileno()],
            stderr=subprocess.PIPE,
            text=True,
        )
        address = listener.getsockname()
    try:
        with socket.create_connection(address, PATIENCE) as idle, socket.create_connection(address, PATIENCE) as client:
            client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\nExpect: 100-continue\r\n\r\n")
            assert b"100 Continue" in client.recv(100)
            process.send_signal(signal.SIGTERM)
            assert idle.recv(1) == b""
            client.sendall(b"0123456789")
            assert response_on(client).endswith(b"0123456789")
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.communicate()


LOADING = """
import os, socket
import leaderboard.wsgi
try:
    socket.create_connection(("127.0.0.1", int(os.environ["TEST_PORT"])), 60).close()
    listened = b"it listened"
except ConnectionRefusedError:
    listened = b"refused"

def application(environ, start_response):
    start_response("200 OK", [("Content-Length", str(len(listened)))])
    return [listened]
"""


def test_no_request_waits_for_a_server_that_starts(tmp_path: Path) -> None:
    """A proxy in front would send requests to it, which another host could answer at once."""
    (tmp_path / "loading_application.py").write_text(LOADING)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [word.replace("leaderboard.wsgi:", "loading_application:") for word in processes.web(f"127.0.0.1:{port}")]
    env = {**os.environ, "TEST_PORT": str(port), "PYTHONPATH": str(tmp_path)}
    process = subprocess.Popen(command, cwd=settings.ROOT, env=env, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        next(line for line in process.stderr if "Listening" in line)
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            assert response_on(client).endswith(b"refused")
    finally:
        process.terminate()
        process.communicate()
