"""Where tokens are sent, and responses that do not come from Holdout."""

from __future__ import annotations

import http.server
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from evaluator.client.http import RefusedError, Server, UnavailableError
from evaluator.errors import UsageError

TOKEN = "abc123"


class Answering(http.server.ThreadingHTTPServer):
    """Sends the same response to every request, and records the requests."""

    def __init__(self, status: int, body: bytes, **headers: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.body, self.headers = status, body, headers
        self.asked: list[tuple[str, str]] = []
        self.address = f"http://127.0.0.1:{self.server_port}"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: Answering

    def do_GET(self) -> None:
        self.server.asked.append((self.path, self.headers.get("Authorization", "")))
        self.send_response(self.server.status)
        for name, value in self.server.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        self.wfile.write(self.server.body)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def answering(status: int, body: bytes, **headers: str) -> Iterator[Answering]:
    server = Answering(status, body, **headers)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_response_and_the_token() -> None:
    with answering(200, b'{"results": []}') as server:
        assert Server(f"{server.address}/", TOKEN).get("submissions/", system="a b&c") == {"results": []}
    assert server.asked == [("/api/v1/submissions/?system=a+b%26c", f"Token {TOKEN}")]


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_redirect_receives_the_token(status: int) -> None:
    with answering(200, b"{}") as elsewhere, answering(status, b"", Location=f"{elsewhere.address}/x") as server:
        with pytest.raises(UsageError, match=f'redirects to "{elsewhere.address}/x"'):
            Server(server.address, TOKEN).get("tasks/")
        assert len(server.asked) == 1
        assert elsewhere.asked == []


def test_a_refusal_has_the_servers_message_and_problems() -> None:
    body = b'{"code": "invalid_predictions", "message": "No.", "problems": [{"text": "p:1: x"}], "more": 3}'
    with answering(422, body) as server, pytest.raises(RefusedError) as refused:
        Server(server.address, TOKEN).get("tasks/")
    assert (refused.value.code, str(refused.value), refused.value.more) == ("invalid_predictions", "No.", 3)
    assert refused.value.problems == [{"text": "p:1: x"}]


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (502, b"<html>Bad gateway</html>"),
        (404, b"<html>nothing here</html>"),
        (403, b"[]"),
        (500, b'{"code": "server_error", "message": "An error of ours"}'),
        (503, b'{"code": "engine_unavailable", "message": "no engine"}'),
        (200, b"<html>a page</html>"),
    ],
)
def test_other_error_responses_may_be_retried(status: int, body: bytes) -> None:
    with answering(status, body) as server, pytest.raises(UnavailableError) as unavailable:
        Server(server.address, TOKEN).get("tasks/")
    assert TOKEN not in str(unavailable.value)


def test_no_server_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    with pytest.raises(UnavailableError, match=f"no response from http://127.0.0.1:{port}"):
        Server(f"http://127.0.0.1:{port}", TOKEN).get("tasks/")


@pytest.mark.parametrize(
    "address",
    [
        "board.example",
        "ftp://board.example",
        "file:///etc/passwd",
        "https://",
        "x",
        "http://[::1",
        "http://a:port",
        "http://a:65536",
    ],
)
def test_an_invalid_address_is_refused(address: str) -> None:
    with pytest.raises(UsageError, match="the server's address is"):
        Server(address, TOKEN)


@pytest.mark.parametrize(
    ("address", "is_open"),
    [
        ("http://127.0.0.1:8000", False),
        ("http://localhost:8000", False),
        ("https://board.example", False),
        ("http://board.example", True),
    ],
)
def test_an_unencrypted_connection_is_detected(address: str, is_open: bool) -> None:
    assert Server(address, TOKEN).is_open is is_open


@pytest.mark.parametrize("wrong", ["", "two words", "a\r\nX-Evil: 1", "tökén"])
def test_an_invalid_token_is_refused_and_not_quoted(wrong: str) -> None:
    with pytest.raises(UsageError) as refused:
        Server("http://127.0.0.1:1", wrong)
    assert not wrong or wrong not in str(refused.value)
