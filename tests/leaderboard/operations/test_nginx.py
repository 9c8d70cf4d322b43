"""nginx as configured in deploy/: what it refuses, and what the site behind it gets."""

from __future__ import annotations

import gzip
import http.client
import json
import re
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from leaderboard.core.uploads import FORM_BYTES
from tests.support import nginx

SITE = settings.ROOT / "deploy" / "nginx-site.conf"
LARGE = {"Content-Length": "2000000"}
PAGE = b"<p>The same words again and again.</p>" * 1000


@dataclass
class Upstream:
    """A server in place of the site. requests: (method, path, headers, body) of each so far.

    answers: headers of the responses of pages beside the usual ones; it answers 304 to a request with their ETag.
    """

    requests: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)

    def handler(self) -> type[BaseHTTPRequestHandler]:
        requests, answers = self.requests, self.answers

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                requests.append((self.command, self.path, dict(self.headers), body))
                page = PAGE if "Accept-Encoding" in self.headers else b""
                is_known = self.headers.get("If-None-Match", "nothing") == answers.get("ETag")
                self.send_response(304 if is_known else 200)
                for name, value in answers.items():
                    self.send_header(name, value)
                if not is_known:
                    self.send_header("Content-Type", "text/html; charset=utf-8")
                    self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                if not is_known:
                    self.wfile.write(page)

            do_POST = do_GET

            def log_message(self, *_: Any) -> None: ...

        return Handler


@dataclass
class Proxied:
    """nginx in front of an upstream; `stop` ends the upstream."""

    port: int
    upstream: Upstream
    stop: ExitStack

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        answer = response.status, dict(response.getheaders()), response.read()
        connection.close()
        return answer

    def connect(self, *, source: str = "127.0.0.1") -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=60, source_address=(source, 0))


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Proxied]:
    upstream = Upstream()
    server = ThreadingHTTPServer(("127.0.0.1", 0), upstream.handler())
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with ExitStack() as stop, nginx.in_front_of(server.server_address[1], tmp_path) as port:
        stop.callback(server.server_close)
        stop.callback(server.shutdown)
        yield Proxied(port, upstream, stop)


def test_the_largest_body_is_that_of_the_site() -> None:
    (size,) = re.findall(r"^ *client_max_body_size (\d+);", SITE.read_text(), flags=re.MULTILINE)
    assert int(size) == settings.MAX_UPLOAD_BYTES + FORM_BYTES


@nginx.needs_nginx
def test_forwarded_headers_of_clients_are_replaced(site: Proxied) -> None:
    forged = {
        "X-Forwarded-For": "192.0.2.1",
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Host": "evil.example",
        "X-Real-IP": "192.0.2.1",
        "Forwarded": "for=192.0.2.1",
        "Host": "board.example:8000",
    }
    assert site.ask("GET", "/", **forged)[0] == 200
    ((_, _, headers, _),) = site.upstream.requests
    got = {name: headers.get(name) for name in forged}
    assert got == {
        "X-Forwarded-For": "127.0.0.1",
        "X-Forwarded-Proto": "http",
        "X-Forwarded-Host": None,
        "X-Real-IP": None,
        "Forwarded": None,
        "Host": "board.example:8000",
    }


@nginx.needs_nginx
@pytest.mark.parametrize(
    ("address", "cookie", "is_compressed"),
    [("/", "", True), ("/?q=a", "", True), ("/", "a=b; sessionid=c", True), ("/?q=a", "a=b; sessionid=c", False)],
)
def test_pages_are_compressed_except_a_sessions_with_a_query(
    site: Proxied, address: str, cookie: str, is_compressed: bool
) -> None:
    """What a query puts on a page must not be compressed with what only its user may see."""
    headers = {"Accept-Encoding": "gzip", "Cookie": cookie} if cookie else {"Accept-Encoding": "gzip"}
    status, got, body = site.ask("GET", address, **headers)
    assert (status, got.get("Content-Encoding")) == (200, "gzip" if is_compressed else None)
    assert (gzip.decompress(body) if is_compressed else body) == PAGE
    ((_, path, passed_on, _),) = site.upstream.requests
    assert (path, passed_on["X-Forwarded-For"]) == (address, "127.0.0.1")


@nginx.needs_nginx
def test_large_bodies_need_credentials(site: Proxied) -> None:
    assert site.ask("POST", "/", b"x" * 900_000)[0] == 200
    assert site.ask("POST", "/", **LARGE)[0] == 401
    for credentials in ({"Cookie": "a=b; sessionid=c"}, {"Authorization": "Token a"}):
        assert site.ask("POST", "/", b"x" * 2_000_000, **credentials)[0] == 200
    assert [len(body) for *_, body in site.upstream.requests] == [900_000, 2_000_000, 2_000_000]


@nginx.needs_nginx
def test_bodies_that_are_too_large_or_have_no_length_are_refused(site: Proxied) -> None:
    token = {"Authorization": "Token a"}
    answers = [
        site.ask("POST", "/", **token, **{"Content-Length": "201000001"}),
        site.ask("POST", "/", b"0\r\n\r\n", **token, **{"Transfer-Encoding": "chunked"}),
    ]
    codes = [(status, headers["Content-Type"], json.loads(body)["code"]) for status, headers, body in answers]
    assert codes == [(413, "application/json", "too_large"), (411, "application/json", "length_required")]
    assert site.upstream.requests == []


@nginx.needs_nginx
def test_a_body_reaches_the_site_when_it_is_whole(site: Proxied) -> None:
    with site.connect() as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nabcd")
        assert site.ask("GET", "/other")[0] == 200
        client.sendall(b"e")
        assert client.recv(65536).startswith(b"HTTP/1.1 200 ")
    assert [(path, body) for _, path, _, body in site.upstream.requests] == [("/other", b""), ("/", b"abcde")]


@nginx.needs_nginx
def test_an_address_has_a_limited_number_of_requests(site: Proxied) -> None:
    head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"
    with ExitStack() as stack:
        clients = [stack.enter_context(site.connect()) for _ in range(101)]
        for client in clients:
            client.sendall(head)
        ((refused, *_), _, _) = select.select(clients, [], [], 60)
        response = refused.recv(65536)
        assert response.startswith(b"HTTP/1.1 429 ") and b"Retry-After: 10\r\n" in response
        with site.connect(source="127.0.0.2") as other:
            other.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            assert other.recv(65536).startswith(b"HTTP/1.1 200 ")


@nginx.needs_nginx
def test_a_site_that_is_down_is_503(site: Proxied) -> None:
    site.stop.close()
    status, headers, body = site.ask("GET", "/")
    assert (status, headers["Retry-After"], json.loads(body)["code"]) == (503, "10", "busy")


BOARD = "/benchmarks/tiny/test/?sort=system"
AS_THE_SITE = {"ETag": '"1"', "Cache-Control": "private, no-cache", "Vary": "Cookie, Authorization"}
"""Headers of a board for a visitor without a session."""


@nginx.needs_nginx
@pytest.mark.parametrize(
    "address", ["/", "/benchmarks/tiny/", "/api/v1/benchmarks/tiny/phases/test/leaderboard/comparisons/"]
)
def test_pages_of_anonymous_visitors_are_kept(site: Proxied, address: str) -> None:
    check_kept(site, address)


def check_kept(site: Proxied, address: str) -> None:
    site.upstream.answers.update(AS_THE_SITE)
    first = site.ask("GET", address)
    assert site.ask("GET", address)[2] == first[2] and len(site.upstream.requests) == 1
    assert site.ask("GET", address, **{"If-None-Match": 'W/"1"'})[0] == 304 and len(site.upstream.requests) == 1


@nginx.needs_nginx
def test_boards_of_anonymous_visitors_are_kept_for_seconds_and_then_revalidated(site: Proxied) -> None:
    check_kept(site, BOARD)
    assert site.ask("GET", f"{BOARD}&page=2")[0] == site.ask("GET", BOARD, Host="other.example")[0] == 200
    assert len(site.upstream.requests) == 3, "another BOARD, another host"
    nginx.eventually(lambda: site.ask("GET", BOARD)[0] == 200 and len(site.upstream.requests) == 4)
    assert site.upstream.requests[-1][2]["If-None-Match"] == '"1"'
    site.upstream.answers["ETag"] = '"2"'
    nginx.eventually(lambda: site.ask("GET", BOARD)[1]["ETag"] == '"2"')
    assert len(site.upstream.requests) == 5


@nginx.needs_nginx
@pytest.mark.parametrize(
    "headers",
    [{"Cookie": "sessionid=a"}, {"Cookie": "csrftoken=a; messages=b"}, {"Authorization": "Token a"}],
    ids=lambda headers: next(iter(headers.values())),
)
def test_who_has_a_cookie_or_a_token_neither_fills_nor_reads_the_cache(site: Proxied, headers: dict[str, str]) -> None:
    site.upstream.answers.update(AS_THE_SITE)
    for _ in range(2):
        site.ask("GET", BOARD, **headers)
    assert len(site.upstream.requests) == 2
    for _ in range(2):
        site.ask("GET", BOARD)
    assert len(site.upstream.requests) == 3
    assert site.ask("GET", BOARD, **headers, **{"If-None-Match": '"1"'})[0] == 304
    assert len(site.upstream.requests) == 4 and site.upstream.requests[-1][2]["If-None-Match"] == '"1"'


@nginx.needs_nginx
@pytest.mark.parametrize(
    ("address", "answer"),
    [
        (BOARD, {"Set-Cookie": "csrftoken=a"}),
        (BOARD, {"ETag": ""}),
        (BOARD, {"Cache-Control": "no-store"}),
        ("/accounts/login/", {}),
        ("/benchmarks/tiny/splits/test/inputs.jsonl", {}),
        ("/api/v1/benchmarks/tiny/phases/test/submissions/", {}),
    ],
)
def test_other_answers_are_not_kept(site: Proxied, address: str, answer: dict[str, str]) -> None:
    site.upstream.answers.update({name: value for name, value in (AS_THE_SITE | answer).items() if value})
    for _ in range(2):
        assert site.ask("GET", address)[0] == 200
    assert len(site.upstream.requests) == 2
