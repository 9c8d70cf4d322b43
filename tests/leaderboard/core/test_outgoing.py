"""Outgoing HTTP calls: only to public addresses, once, without redirects, in bounded time."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from leaderboard.core import http_client
from leaderboard.core.http_client import AddressError, RequestFailedError, is_public, post, target

LOCAL = ("127.0.0.1",)


@contextmanager
def listening(answer: Callable[[socket.socket], None]) -> Iterator[tuple[str, list[bytes]]]:
    """(address, received requests) of a server that reads one request per connection and then calls `answer`."""
    received: list[bytes] = []

    def serve() -> None:
        while True:
            try:
                peer, _ = server.accept()
            except OSError:
                return
            with peer:
                received.append(peer.recv(65536))
                try:
                    answer(peer)
                except OSError:
                    continue

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/hook?x=1", received
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


def replies(text: bytes) -> Callable[[socket.socket], None]:
    return lambda peer: peer.sendall(text)


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
        *("100.64.0.1", "192.0.2.1", "224.0.0.1", "255.255.255.255", "240.0.0.1", "198.18.0.1"),
        *("::1", "::", "fe80::1", "fe80::1%lo", "fc00::1", "ff02::1", "2001:db8::1"),
        # IPv4 addresses embedded in IPv6 ones.
        *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "2002:7f00:1::", "2002:a00:1::"),
        *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
        # Special addresses that Python 3.11 takes for global ones.
        *("192.88.99.1", "2002:c058:6301::", "192.0.0.9", "192.0.0.10", "192.0.0.170", "3fff::1", "fec0::1"),
        *("100:0:0:1::1", "5f00::1", "64:ff9b:1::1"),
    ],
)  # fmt: skip
def test_private_addresses_are_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    "address", ["8.8.8.8", "1.1.1.1", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]
)
def test_public_addresses_are(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize(
    "url",
    [
        *("ftp://a.example/", "file:///etc/passwd", "gopher://a.example/", "//a.example/", "a.example", "https://"),
        *("https://user@a.example/", "https://u:p@a.example/", "https://a.example/#x", "https://a.example:99999/"),
        *("http://a.example:25/", "http://a.example:22/", "https://a.example/a b", "https://a.example/\r\nX: 1", "https://ä.example/"),
    ],
)  # fmt: skip
def test_invalid_webhook_addresses_are_refused(url: str) -> None:
    with pytest.raises(AddressError):
        target(url)


@pytest.mark.parametrize(
    ("url", "problem"),
    [
        ("https://user@a.example/", "a user name or a password before @"),
        ("https://u:p@a.example/", "a user name or a password before @"),
        ("https://a.example/#x", "a fragment after #"),
    ],
)
def test_a_refused_webhook_address_has_its_reason(url: str, problem: str) -> None:
    with pytest.raises(AddressError, match=problem):
        target(url)


def test_a_target_keeps_its_query_and_names_its_port() -> None:
    parsed = target("https://a.example:8443/x?y=1")
    assert (parsed.path, parsed.authority) == ("/x?y=1", "a.example:8443")
    assert target("http://[2606:4700::1]/").authority == "[2606:4700::1]"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "0x7f.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]"])
def test_a_private_host_is_not_called_in_any_notation(host: str) -> None:
    with listening(replies(b"HTTP/1.1 200 OK\r\n\r\n")) as (url, received):
        port = url.split(":")[2].split("/")[0]
        with pytest.raises(RequestFailedError):
            post(f"http://{host}:{port}/", b"{}", {})
    assert received == []


def test_a_name_with_one_private_address_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    def two(host: str, port: int, **_: Any) -> list[Any]:
        return [(2, 1, 6, "", ("8.8.8.8", port)), (2, 1, 6, "", ("10.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", two)
    with pytest.raises(RequestFailedError, match="not on the public internet"):
        post("http://both.example/", b"{}", {})


def test_the_connection_goes_to_the_checked_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second DNS lookup would give another address: there is none."""
    lookups: list[str] = []
    real = socket.getaddrinfo

    def once(host: str, *args: Any, **kwargs: Any) -> Any:
        if host == "rebinding.example":
            lookups.append(host)
            return real("127.0.0.1", *args, **kwargs) if len(lookups) == 1 else pytest.fail("resolved again")
        return real(host, *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", once)
    with listening(replies(b"HTTP/1.1 204 No Content\r\n\r\n")) as (url, received):
        assert post(url.replace("127.0.0.1", "rebinding.example"), b"{}", {}, also=("rebinding.example",)) == 204
    assert b"Host: rebinding.example:" in received[0] and lookups == ["rebinding.example"]


def test_a_call_carries_its_headers_and_body() -> None:
    with listening(replies(b"HTTP/1.1 200 OK\r\n\r\n")) as (url, received):
        assert post(url, b'{"a": 1}', {"webhook-id": "7"}, also=LOCAL) == 200
    head, _, body = received[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /hook?x=1 HTTP/1.1\r\n") and b"webhook-id: 7" in head
    assert b'{"a": 1}' in (body, *received[1:]) or body == b""


def test_a_redirect_is_not_followed() -> None:
    with listening(replies(b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\n\r\n")) as (url, received):
        assert post(url, b"{}", {}, also=LOCAL) == 302
    assert len(received) == 1


def test_a_slow_server_is_abandoned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each byte arrives in time, the whole answer does not."""
    monkeypatch.setattr(http_client, "ALL_SECONDS", 0.3)
    closed = threading.Event()

    def drip(peer: socket.socket) -> None:
        peer.sendall(b"HTTP/1.1 200 OK\r\nX: ")
        try:
            while not closed.wait(0.05):
                peer.sendall(b"x")
        finally:
            closed.set()

    with listening(drip) as (url, _):
        with pytest.raises(RequestFailedError, match="took too long"):
            post(url, b"{}", {}, also=LOCAL)
        assert closed.wait(30)


@pytest.mark.parametrize("reply", [b"", b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 1000 + b"\r\n"])
def test_an_invalid_answer_is_reported_without_quoting_it(reply: bytes) -> None:
    with listening(replies(reply)) as (url, _), pytest.raises(RequestFailedError) as refused:
        post(url, b"{}", {}, also=LOCAL)
    assert str(refused.value) == "there was no valid HTTP response"


def test_a_certificate_is_checked() -> None:
    with listening(replies(b"no TLS here")) as (url, _), pytest.raises(RequestFailedError, match="TLS"):
        post(url.replace("http:", "https:"), b"{}", {}, also=LOCAL)
