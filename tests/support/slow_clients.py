"""Clients that hold connections open: they send or read a byte now and then, over real sockets."""

from __future__ import annotations

import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

HEAD = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


@dataclass
class SlowClients:
    """Open connections of slow clients. Each interval, each writer sends a byte, and each reader reads 1,000."""

    port: int
    interval: float = 1.0
    writers: list[socket.socket] = field(default_factory=list)
    readers: list[socket.socket] = field(default_factory=list)
    _stopping: threading.Event = field(default_factory=threading.Event)

    def send_headers(self, count: int) -> None:
        """Open connections whose headers never end."""
        self.writers += [self._connected(HEAD) for _ in range(count)]

    def send_bodies(self, count: int, *, path: str, size: int, headers: str = "", start: bytes = b"") -> None:
        """Open connections whose bodies come a byte at a time, after the first bytes `start`."""
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {size}\r\n{headers}\r\n"
        self.writers += [self._connected(head.encode() + start) for _ in range(count)]

    def read_slowly(self, count: int, *, path: str, headers: str = "") -> None:
        """Request a large response on each of `count` connections with small receive buffers."""
        request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}\r\n".encode()
        self.readers += [self._connected(request, receive_buffer=4096) for _ in range(count)]

    def count_open(self) -> int:
        """Return how many connections the server has neither answered (writers) nor closed."""
        return sum(not _has_input(writer) for writer in self.writers) + sum(map(_is_open, self.readers))

    def _connected(self, first: bytes, receive_buffer: int = 0) -> socket.socket:
        client = socket.socket()
        if receive_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        client.connect(("127.0.0.1", self.port))
        client.sendall(first)
        return client

    def _go_on(self) -> None:
        while not self._stopping.wait(self.interval):
            for writer in self.writers:
                _try(writer.send, b"a")
            for reader in self.readers:
                if _has_input(reader):
                    _try(reader.recv, 1000)

    @contextmanager
    def connected(self) -> Iterator[SlowClients]:
        """Keep sending and reading slowly during the block; then close all connections."""
        thread = threading.Thread(target=self._go_on, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._stopping.set()
            thread.join()
            for client in (*self.writers, *self.readers):
                client.close()


def _try(call: Callable[[Any], object], argument: object) -> None:
    with suppress(OSError):  # the server has closed the connection, which `count_open` reports
        call(argument)


def _has_input(client: socket.socket) -> bool:
    return bool(select.select([client], [], [], 0)[0])


def _is_open(client: socket.socket) -> bool:
    try:
        return not _has_input(client) or bool(client.recv(1, socket.MSG_PEEK))
    except OSError:
        return False
