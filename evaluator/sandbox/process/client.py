"""Client of the sandbox server: one connection per run, usable from any process and thread."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import socket
import struct
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec

from evaluator.errors import SandboxError, SandboxTimeoutError
from evaluator.sandbox.contract import Execution, Result, Verdict
from evaluator.sandbox.openfile import check_readable
from evaluator.sandbox.process import protocol
from evaluator.sandbox.process.listener import address

PATIENCE = 60.0  # seconds until a job is ready; after that the server is overloaded or stuck
GRACE = 5.0  # seconds that the server may take to report that a job's time ran out
_PIPE_BYTES = 1 << 20  # fewer reads for a large attachment; the kernel may grant less


class ProcessSandbox:
    """Client of the sandbox server at `socket_path`, which runs each job in a separate child process.

    patience: seconds to wait until a job has started, or for any other reply of the server.
    """

    def __init__(self, socket_path: str | os.PathLike[str], *, patience: float = PATIENCE) -> None:
        self.path = Path(socket_path)
        self.patience = patience

    def run(self, execution: Execution) -> Result:
        """Run one job to its end; the calling thread waits.

        Raises SandboxError if the job is malformed, or if the server is gone, overloaded or fails, and
        SandboxTimeoutError if the server does not respond in time, or if the job reached its limit of wall time and not
        that of processor time. After a failure of the server the job may be run again.
        """
        try:
            for name, descriptor in execution.files.items():
                check_readable(name, descriptor)
            packets = [
                protocol.pack(protocol.Request(ask="run", limits=execution.limits)),
                protocol.pack(
                    protocol.Order(job=execution.job, arguments=dict(execution.arguments), files=list(execution.files))
                ),
            ]
        except (ValueError, TypeError) as problem:
            raise SandboxError(f"invalid job: {problem}") from None
        with contextlib.ExitStack() as stack:
            run = _Run(execution, time.monotonic())
            connection = stack.enter_context(self._connect())
            read_end, write_end = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
            stack.callback(os.close, read_end)
            try:
                os.set_blocking(write_end, True)
                with contextlib.suppress(OSError):
                    fcntl.fcntl(write_end, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
                self._send(connection, packets, [write_end, *execution.files.values()])
            finally:
                os.close(write_end)
            return run.follow(connection, read_end, self.patience)

    def layers(self) -> Mapping[str, bool | str]:
        """Implement `Sandbox.layers`: the layers that the server applies to its jobs."""
        return self._describe().layers

    def code(self) -> str:
        """Return the digest of the source code that the server runs (`evaluator.code_digest`).

        Raises SandboxError if the server does not respond.
        """
        return self._describe().code

    def _describe(self) -> protocol.Reply:
        with self._connect() as connection:
            self._send(connection, [protocol.pack(protocol.Request(ask="layers"))], [])
            connection.settimeout(self.patience)
            reply = _receive(connection)
        if reply.event != "ready":
            raise SandboxError(f"the sandbox server failed: {reply.what}")
        return reply

    def answers(self) -> bool:
        """Return True if a server replies at `socket_path`. The kernel accepts connections for one that is frozen."""
        try:
            self._describe()
        except SandboxError:
            return False
        return True

    def _connect(self) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            # A socket with a timeout would not wait while the server's backlog is full; one with SO_SNDTIMEO does.
            wait = struct.pack("@ll", int(self.patience) + 1, 0)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, wait)
            with address(self.path) as short:
                connection.connect(short)
        except OSError as problem:
            connection.close()
            raise SandboxError(
                f"no sandbox server responds at {self.path} ({problem.strerror or problem}); start it with "
                "`manage.py serve` or `python -m evaluator.sandbox.process.server --socket PATH`"
            ) from None
        return connection

    @staticmethod
    def _send(connection: socket.socket, packets: list[bytes], descriptors: list[int]) -> None:
        """Send packets to the server, the last one with the descriptors.

        Raises SandboxError if the server closes the connection, with the server's reason if it sent one.
        """
        try:
            for packet in packets[:-1]:
                connection.send(packet, socket.MSG_NOSIGNAL)
            socket.send_fds(connection, packets[-1:], descriptors, socket.MSG_NOSIGNAL)
        except OSError:
            # The server may have sent a reason before it closed the connection.
            why = "the sandbox server closed the connection before it accepted the job"
            with contextlib.suppress(SandboxError):
                connection.settimeout(1.0)
                why = f"the sandbox server failed: {_receive(connection).what}"
            raise SandboxError(why) from None


class _Run:
    """State of one run: the bytes of the report that came through the pipe, and the server's replies."""

    def __init__(self, execution: Execution, began: float) -> None:
        self.limits = execution.limits
        self.began = began
        self.received = bytearray()
        self.most = int(self.limits.output_bytes) + protocol.HEADER_BYTES
        self.start_seconds = 0.0
        self.cpu_seconds = 0.0
        self.layers: Mapping[str, bool | str] = {}
        self.code = ""

    def follow(self, connection: socket.socket, pipe: int, patience: float) -> Result:
        connection.setblocking(False)
        poll = select.poll()
        poll.register(connection, select.POLLIN)
        poll.register(pipe, select.POLLIN)
        allowed = patience
        deadline = self.began + allowed
        while (left := deadline - time.monotonic()) > 0:
            for descriptor, _ in poll.poll(left * 1000):
                if descriptor == pipe:
                    if not self._drain(pipe):
                        poll.unregister(pipe)
                    if len(self.received) > self.most:
                        return self._result(Verdict.OUTPUT)  # closing the connection ends the job
                    continue
                reply = _receive(connection)
                if reply.event == "ready":
                    self.start_seconds = time.monotonic() - self.began
                    self.layers, self.code = reply.layers, reply.code
                    allowed = self.limits.wall_seconds + GRACE
                    deadline = time.monotonic() + allowed
                elif reply.event == "end" and reply.verdict is not None:
                    self.cpu_seconds = reply.cpu_seconds
                    while self._drain(pipe) and len(self.received) <= self.most:
                        pass
                    return self._end(reply, reply.verdict)
                elif reply.event == "late":
                    raise SandboxTimeoutError(f"the host could not serve the job: {reply.what}")
                else:
                    raise SandboxError(f"the sandbox failed: {reply.what or 'no reason was given'}")
        raise SandboxTimeoutError(f"the sandbox server did not respond in time, expected a reply within {allowed:g} s")

    def _drain(self, pipe: int) -> bool:
        """Read the next bytes of the job's report from the pipe. Return False if the pipe is empty or at its end.

        At most `most` bytes and one are read in all: one byte too many shows that the report is too long.
        """
        room = self.most + 1 - len(self.received)
        try:
            piece = os.read(pipe, min(room, _PIPE_BYTES))
        except BlockingIOError:
            return False
        self.received += piece
        return bool(piece)

    def _end(self, reply: protocol.Reply, verdict: Verdict) -> Result:
        if verdict != Verdict.DONE:
            return self._result(verdict, error_id=reply.error_id)
        try:
            report, attachment = protocol.read_frame(self.received)
        except ValueError:
            return self._result(Verdict.OUTPUT)
        return self._result(verdict, report=report, attachment=attachment)

    def _result(
        self,
        verdict: Verdict,
        *,
        report: dict[str, object] | None = None,
        attachment: bytes = b"",
        error_id: str = "",
    ) -> Result:
        return Result(
            verdict=verdict,
            report=report,
            attachment=attachment,
            wall_seconds=time.monotonic() - self.began,
            cpu_seconds=self.cpu_seconds,
            start_seconds=self.start_seconds,
            layers=self.layers,
            code_sha256=self.code,
            error_id=error_id,
        )


def _receive(connection: socket.socket) -> protocol.Reply:
    try:
        try:
            packet = connection.recv(protocol.PACKET_BYTES)
        except ConnectionResetError:
            # The reset is reported once; the server's last reply is still queued.
            packet = connection.recv(protocol.PACKET_BYTES)
        if not packet:
            # The cause says, as a reset does, that this passes.
            raise SandboxError("the sandbox server closed the connection during a job") from ConnectionResetError()
        return protocol.unpack(packet, protocol.Reply)
    except OSError as problem:
        raise SandboxError(f"the sandbox server does not respond: {problem}") from None
    except msgspec.MsgspecError as problem:
        raise SandboxError(f"the sandbox server's response is not valid: {problem}") from None
