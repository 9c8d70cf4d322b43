"""The client of the sandbox server when the server has closed the connection before the client sends."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import SandboxError, causes_of
from evaluator.sandbox.contract import Execution
from evaluator.sandbox.process import protocol
from evaluator.sandbox.process.client import ProcessSandbox, _receive

Ask = Callable[[ProcessSandbox], Any]
REQUESTS: dict[str, Ask] = {"run": lambda box: box.run(Execution(job="empty")), "layers": lambda box: box.layers()}


@pytest.fixture(params=REQUESTS)
def ask(request: pytest.FixtureRequest) -> Ask:
    return REQUESTS[request.param]


def client_error(path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask, first_message: bytes) -> str:
    """The client's error when the server accepts, sends `first_message` and closes before the client sends."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(path))
        listener.listen()
        box = ProcessSandbox(path)
        connect = box._connect

        def connected() -> socket.socket:
            connection = connect()
            server, _ = listener.accept()
            with server:
                if first_message:
                    server.send(first_message)
            return connection

        monkeypatch.setattr(box, "_connect", connected)
        with pytest.raises(SandboxError) as error:
            ask(box)
    return str(error.value)


def test_the_reply_of_a_full_server_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask) -> None:
    full = protocol.pack(protocol.Reply(event="failed", what="too many simultaneous clients"))
    assert (
        client_error(tmp_path / "s", monkeypatch, ask, full)
        == "the sandbox server failed: too many simultaneous clients"
    )


@pytest.mark.parametrize("first_message", [b"", b"noise"])
def test_a_server_that_sends_nothing_valid_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask, first_message: bytes
) -> None:
    assert "closed the connection before it accepted the job" in client_error(
        tmp_path / "s", monkeypatch, ask, first_message
    )


def test_a_server_that_closes_during_a_job_is_told_by_the_cause() -> None:
    """After a reset and after an orderly end alike: the work is then tried again later."""
    reader, server = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    server.close()
    with reader, pytest.raises(SandboxError, match="closed the connection during a job") as error:
        _receive(reader)
    assert any(isinstance(cause, ConnectionError) for cause in causes_of(error.value))
