"""Worker of the web server: gunicorn manages the worker processes, and waitress does the I/O of each.

One thread of a worker reads requests and sends responses for all connections. A request gets one of the other threads
only once it has been received completely, and its response is buffered. So slow clients occupy no thread, only a
connection and space in an unlinked temporary file. This module limits both (docs/adr/0032).
"""

from __future__ import annotations

import json
import math
import os
import socket
import tempfile
import time
from collections import Counter
from contextlib import suppress
from typing import Any

from django.conf import settings
from gunicorn.workers.base import Worker
from waitress import wasyncore
from waitress.adjustments import Adjustments
from waitress.buffers import ReadOnlyFileBasedBuffer
from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser
from waitress.server import TcpWSGIServer
from waitress.task import ThreadedTaskDispatcher
from waitress.utilities import Error

from leaderboard.core import disk, uploads
from leaderboard.core.api import problem_details
from leaderboard.core.db_locks import RETRY_AFTER
from leaderboard.core.refusal import Code

WINDOW_SECONDS = 30.0
WINDOW_BYTES = 300_000
"""Bytes that a connection must receive or send in WINDOW_SECONDS while a request or a response is incomplete.

Since headers are smaller, they must be complete after that time.
"""
IDLE_SECONDS = 15.0
"""Seconds after which a connection without a request is closed."""
LINGER_SECONDS = 10.0
"""Seconds for which the rest of a refused body is discarded, so that the client can read the response."""
CHECK_SECONDS = 1.0
MAX_CONNECTIONS = 250
"""Connections of one process; with two temporary files each, they stay below the usual limit of 1,024 descriptors."""
MAX_HEADER_BYTES = 65_536
MAX_BUFFERED_BYTES = 2_000_000_000
"""Bytes of all request bodies and unsent responses that one process keeps in memory and temporary files."""
RESPONSE_BYTES = 250_000_000
"""Bytes of a response that are buffered before its thread waits for the client. Stored files are sent as they are."""
MEMORY_BYTES = 1 << 18
"""Bytes above which a body, or the unsent part of a response, moves to a temporary file."""


class JSONError(Error):
    """Error response that the web server sends without the application, in the format of the API's errors."""

    code_text = ""
    headers: tuple[tuple[str, str], ...] = ()

    def to_response(self, ident: str | None = None) -> tuple[str, list[tuple[str, str]], bytes]:
        body = json.dumps(problem_details.content(self.code, self.code_text, self.body)).encode()
        headers = [("Content-Type", problem_details.MEDIA_TYPE), *self.headers]
        return f"{self.code} {self.reason}", headers, body


class RequestTimeout(JSONError):
    code, reason, code_text = 408, "Request Timeout", "request_timeout"


class ServiceUnavailable(JSONError):
    code, reason, code_text = 503, "Service Unavailable", "busy"
    headers = (("Retry-After", str(RETRY_AFTER)),)


class InsufficientStorage(JSONError):
    code, reason, code_text = 507, "Insufficient Storage", "disk_full"


class StoreUnavailable(JSONError):
    code, reason, code_text = 503, "Service Unavailable", "store_unavailable"


class Parser(HTTPRequestParser):
    """Request parser that does not receive a body over the size limit (`uploads.max_body_bytes`) or without a length.

    refused_body: True for a request with such a body; the application gets the headers and an empty body, and refuses
    the request.
    """

    refused_body = False
    chunked: bool
    content_length: int

    def parse_header(self, header_plus: bytes) -> None:
        super().parse_header(header_plus)
        cookie, authorization = self.headers.get("COOKIE", ""), self.headers.get("AUTHORIZATION", "")
        if self.chunked:
            self.headers["TRANSFER_ENCODING"] = "chunked"
        elif self.content_length <= uploads.max_body_bytes(cookie=cookie, authorization=authorization):
            return
        self.refused_body = True
        self.headers["CONNECTION"] = "close"
        self.chunked, self.content_length, self.body_rcv, self.expect_continue = False, 0, None, False

    def received(self, data: bytes) -> int:
        """Parse received bytes, and return the number of bytes consumed: all of them once the request is complete.

        Bytes after a complete request are a refused body, or pipelined requests, and are discarded. Responses to
        pipelined requests would have to wait in a thread until the client has read the previous response. HTTP allows
        closing the connection instead; clients then repeat the requests.
        """
        consumed = int(super().received(data))
        if consumed < len(data) and self.completed and not self.empty:
            self.headers["CONNECTION"] = "close"
            return len(data)
        return consumed


class Channel(HTTPChannel):
    """A connection with limits on its duration.

    phase: "idle", "receiving", "working", "sending" or "lingering" (discards a refused body), at the last `check`.
    since: monotonic time at which that phase, or its current time window, began. moved: bytes received or sent since
    then. lingers: True if the client may still be sending a refused body.
    """

    parser_class = Parser
    phase = ""
    moved = 0
    lingers = False
    request: Any
    current_outbuf_count: int

    def __init__(self, server: Server, *args: Any, **kwargs: Any) -> None:
        self.since = time.monotonic()
        super().__init__(server, *args, **kwargs)
        server.make_room()

    def check(self, now: float) -> None:
        """Close the connection if it is too slow, or has been idle for too long. now: monotonic time."""
        phase = self.current_phase()
        transfers = phase in ("receiving", "sending")
        if phase != self.phase or (transfers and now - self.since > WINDOW_SECONDS and self.moved >= WINDOW_BYTES):
            self.phase, self.since, self.moved = phase, now, 0
        limits = {"idle": IDLE_SECONDS, "lingering": LINGER_SECONDS, "working": math.inf}
        if now - self.since > limits.get(phase, WINDOW_SECONDS):
            rate = f"{WINDOW_BYTES} bytes in {WINDOW_SECONDS:.0f} seconds"
            self.stop(RequestTimeout(f"The request was incomplete and arrived more slowly than {rate}."))

    def current_phase(self) -> str:
        if self.phase == "lingering":
            return "lingering"
        if self.total_outbufs_len:
            return "sending"
        if self.requests:
            return "working"
        return "receiving" if self.request is not None else "idle"

    def buffered_bytes(self) -> int:
        """Return the number of bytes of received bodies, and of unsent responses except stored files."""
        requests = [*self.requests, self.request]
        responses = [len(buffer) for buffer in [*self.outbufs] if not isinstance(buffer, ReadOnlyFileBasedBuffer)]
        return sum(request.body_bytes_received for request in requests if request is not None) + sum(responses)

    def stop(self, error: Error) -> None:
        """Close the connection; respond with `error` first if a request is being received."""
        if self.current_phase() == "receiving":
            self.refuse(error)
        else:
            # Not `will_close`: that waits until the client reads.
            self.handle_close()

    def refuse(self, error: Error) -> None:
        """Respond with `error` to the request that is being received, discard the part received, and close.

        Does nothing if no request is being received.
        """
        with self.requests_lock:
            request, self.request = self.request, None
            if request is None:
                return
            with suppress(OSError):  # closing a file may write what is still buffered
                request.close()
            request.body_rcv, request.error, self.lingers = None, error, True
            request.body_bytes_received = 0  # else another upload is ended for these bytes before the response is sent
            self.requests.append(request)
            self.server.add_task(self)

    def received(self, data: bytes) -> bool:
        self.moved += len(data)
        if self.phase == "lingering":
            return False
        try:
            received = bool(super().received(data))
        except OSError as failure:
            refused = disk.refusal_of(failure)
            if refused is None:
                raise
            is_full = refused.code is Code.DISK_FULL
            self.refuse((InsufficientStorage if is_full else StoreUnavailable)(refused.message))
            return False
        if self.request is None:
            self.phase = ""  # the next request begins a phase of its own
        self.lingers = self.lingers or any(request.refused_body for request in self.requests)
        return received

    def send(self, data: bytes, *args: Any, **kwargs: Any) -> int:
        sent = int(super().send(data, *args, **kwargs))
        self.moved += sent
        return sent

    def write_soon(self, data: Any) -> int:
        # waitress keeps a buffer whole until it has sent all of it. This makes it begin another one.
        if self.current_outbuf_count > MEMORY_BYTES and self.total_outbufs_len < MEMORY_BYTES:
            self.current_outbuf_count = self.adj.outbuf_high_watermark
        return int(super().write_soon(data))

    def readable(self) -> bool:
        return self.phase == "lingering" or bool(super().readable())

    def handle_close(self) -> None:
        """Close the connection; if a body was refused, first discard the bytes that the client is still sending.

        Closing a socket that has unread input resets the connection, and the client may lose the response.
        """
        if self.lingers and self.connected and self.phase != "lingering":
            self.phase, self.since, self.will_close = "lingering", time.monotonic(), False
            with suppress(OSError):
                self.socket.shutdown(socket.SHUT_WR)
            return
        if self.request is not None:
            self.request.close()
        super().handle_close()


class Server(TcpWSGIServer):
    """A listening socket, and the connections that were accepted on it."""

    channel_class = Channel
    next_check = 0.0

    def readable(self) -> bool:
        # Not waitress's own maintenance, which depends on the wall clock.
        return bool(self.accepting) and len(self.active_channels) < 2 * MAX_CONNECTIONS

    def check_channels(self) -> None:
        """Enforce the limits on duration and buffered bytes of all connections, at most once in CHECK_SECONDS."""
        now = time.monotonic()
        if now < self.next_check:
            return
        self.next_check = now + CHECK_SECONDS
        for channel in list(self.active_channels.values()):
            channel.check(now)
        self._free_buffers({channel: channel.buffered_bytes() for channel in self.active_channels.values()})

    def _free_buffers(self, buffered: dict[Channel, int]) -> None:
        """Stop transfers until at most MAX_BUFFERED_BYTES are buffered.

        The next one is always the largest transfer of the client address with the most buffered bytes. Transfers of at
        most MEMORY_BYTES are not stopped. buffered: connection -> bytes.
        """
        total, addresses = sum(buffered.values()), Counter[str]()
        for channel, size in buffered.items():
            addresses[channel.addr[0]] += size
        large = [channel for channel, size in buffered.items() if size > MEMORY_BYTES]
        large = [channel for channel in large if channel.current_phase() in ("receiving", "sending")]
        while total > MAX_BUFFERED_BYTES and large:
            largest = max(large, key=lambda channel: (addresses[channel.addr[0]], buffered[channel]))
            large.remove(largest)
            total -= buffered[largest]
            addresses[largest.addr[0]] -= buffered[largest]
            largest.stop(ServiceUnavailable("The server is receiving too many uploads. Try again later."))

    def make_room(self) -> None:
        """Close a connection if there are more than MAX_CONNECTIONS.

        Of the client address with the most connections, the one that has waited longest is closed. Connections whose
        request is being processed are never closed.
        """
        if len(self.active_channels) <= MAX_CONNECTIONS:
            return
        channels = self.active_channels.values()
        addresses = Counter(channel.addr[0] for channel in channels)
        waiting = [channel for channel in channels if channel.current_phase() != "working"]
        if waiting:
            min(waiting, key=lambda channel: (-addresses[channel.addr[0]], channel.since)).handle_close()

    def stop_accepting(self) -> None:
        self.accepting = False
        self.del_channel()
        self.socket.close()


class BufferingWorker(Worker):
    """A gunicorn worker that serves requests with waitress, which buffers requests and responses."""

    def run(self) -> None:
        # Bodies and responses that do not fit into memory; in a container, /tmp may be in memory.
        tempfile.tempdir = str(settings.FILE_UPLOAD_TEMP_DIR)
        sockets: dict[int, Any] = {}
        dispatcher = ThreadedTaskDispatcher()
        dispatcher.set_thread_count(self.cfg.threads)
        self.servers = [serve(self.wsgi, listener.sock, dispatcher, sockets) for listener in self.sockets]
        while self.alive and self.ppid == os.getppid():
            self._turn(sockets)
        for server in self.servers:
            server.stop_accepting()
        deadline = time.monotonic() + self.cfg.graceful_timeout
        while self._finish_requests() and time.monotonic() < deadline:
            self._turn(sockets)

    def _turn(self, sockets: dict[int, Any]) -> None:
        """Wait at most CHECK_SECONDS for events of the sockets, handle these, and check all connections.

        sockets: file descriptor -> object of waitress.
        """
        self.notify()
        wasyncore.loop(timeout=CHECK_SECONDS, use_poll=True, map=sockets, count=1)
        for server in self.servers:
            server.check_channels()

    def _finish_requests(self) -> bool:
        """Close idle connections; return whether there were any connections before, idle ones included."""
        channels = [channel for server in self.servers for channel in server.active_channels.values()]
        for channel in channels:
            if channel.current_phase() == "idle":
                channel.handle_close()
        return bool(channels)

    def handle_exit(self, sig: int, frame: Any) -> None:
        super().handle_exit(sig, frame)
        for server in getattr(self, "servers", []):
            server.pull_trigger()


def serve(
    application: Any, listener: socket.socket, dispatcher: ThreadedTaskDispatcher, sockets: dict[int, Any]
) -> Server:
    """Return a server for the listening socket `listener`.

    application: WSGI application. dispatcher: its threads. sockets: file descriptor -> object that `wasyncore.loop`
    polls; the server adds its own.
    """
    adjustments = Adjustments(
        # Django trusts forwarded headers if HOLDOUT_PROXY says so.
        clear_untrusted_proxy_headers=False,
        ident="",
        server_name=str(listener.getsockname()[0]),
        recv_bytes=1 << 18,
        max_request_header_size=MAX_HEADER_BYTES,
        max_request_body_size=1 << 62,  # the parser has its own limits
        inbuf_overflow=MEMORY_BYTES,
        outbuf_overflow=MEMORY_BYTES,
        outbuf_high_watermark=RESPONSE_BYTES,
        log_socket_errors=False,
    )
    # Without it the kernel takes megabytes for a slow reader at once, and then nothing for minutes.
    unsent = (socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, MEMORY_BYTES)
    adjustments.socket_options = [*adjustments.socket_options, unsent]
    return Server(
        application,
        sockets,
        _sock=listener,
        dispatcher=dispatcher,
        adj=adjustments,
        sockinfo=(listener.family, listener.type, listener.proto, listener.getsockname()),
        bind_socket=False,
    )
