"""A proxy that breaks connections where a test specifies: in the middle of a request, or before its response."""

from __future__ import annotations

import contextlib
import enum
import re
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

_SECONDS = 30.0


class Fault(enum.Enum):
    NONE = "passed on"
    GONE = "nobody is there"
    CUT = "half of the body arrives, then both ends hang up"
    UNANSWERED = "the request is done, and its answer is lost"


@dataclass
class Network:
    """fault: request line -> the fault to apply. seen: the request lines in order, with their faults.

    offsets: the headers Upload-Offset of all requests that have one, in order.
    """

    port: int
    fault: Callable[[str], Fault]
    seen: list[tuple[str, Fault]] = field(default_factory=list)
    offsets: list[int] = field(default_factory=list)
    address: str = ""

    def carry(self, client: socket.socket) -> None:
        """Handle a connection; it has one request, because the command sends no more."""
        with client, socket.create_connection(("127.0.0.1", self.port), timeout=_SECONDS) as server:
            head = b""
            while b"\r\n\r\n" not in head:
                head += _received(client)
            head, body = head.split(b"\r\n\r\n", 1)
            line = head.split(b"\r\n")[0].decode()
            match = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
            length = int(match[1]) if match else 0
            fault = self.fault(line)
            self.seen.append((line, fault))
            if offset := re.search(rb"upload-offset: *(\d+)", head, re.IGNORECASE):
                self.offsets.append(int(offset[1]))
            if fault is Fault.GONE:
                return
            n_bytes = length // 2 if fault is Fault.CUT else length
            while len(body) < n_bytes:
                body += _received(client)
            server.sendall(head + b"\r\n\r\n" + body[:n_bytes])
            if fault is Fault.CUT:
                return
            while answer := server.recv(1 << 16):
                if fault is Fault.NONE:
                    client.sendall(answer)


def _received(client: socket.socket) -> bytes:
    if not (piece := client.recv(1 << 16)):
        raise ConnectionError("the client hung up")
    return piece


@contextlib.contextmanager
def network(port: int, fault: Callable[[str], Fault]) -> Iterator[Network]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        opened = Network(port, fault, address=f"http://127.0.0.1:{listening.getsockname()[1]}")
        threads: list[threading.Thread] = []

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listening.accept()
                    client.settimeout(_SECONDS)
                    threads.append(threading.Thread(target=_quietly, args=(opened.carry, client)))
                    threads[-1].start()

        accepting = threading.Thread(target=serve)
        accepting.start()
        try:
            yield opened
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            accepting.join()
            for thread in threads:
                thread.join()


def _quietly(carry: Callable[[socket.socket], None], client: socket.socket) -> None:
    with contextlib.suppress(OSError):
        carry(client)
