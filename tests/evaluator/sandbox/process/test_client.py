"""The client of the sandbox server, where the server has hung up before anything was sent."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evaluator.errors import SandboxError
from evaluator.sandbox.contract import Execution
from evaluator.sandbox.process import protocol
from evaluator.sandbox.process.client import ProcessSandbox

Ask = Callable[[ProcessSandbox], Any]
ASKED: dict[str, Ask] = {"run": lambda box: box.run(Execution(job="empty")), "layers": lambda box: box.layers()}


@pytest.fixture(params=ASKED)
def ask(request: pytest.FixtureRequest) -> Ask:
    return ASKED[request.param]


def refused(path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask, said: bytes) -> str:
    """What the client makes of a server that takes its connection, says this, and has hung up when it sends."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(path))
        listener.listen()
        box = ProcessSandbox(path)
        connect = box._connect

        def connected() -> socket.socket:
            connection = connect()
            server, _ = listener.accept()
            with server:
                if said:
                    server.send(said)
            return connection

        monkeypatch.setattr(box, "_connect", connected)
        with pytest.raises(SandboxError) as refusal:
            ask(box)
    return str(refusal.value)


def test_what_a_full_server_says_before_it_hangs_up_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask
) -> None:
    full = protocol.pack(protocol.Reply(event="failed", what="too many simultaneous clients"))
    assert refused(tmp_path / "s", monkeypatch, ask, full) == "the sandbox server failed: too many simultaneous clients"


@pytest.mark.parametrize("said", [b"", b"noise"])
def test_one_that_says_nothing_that_is_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask, said: bytes
) -> None:
    assert "closed the connection before it accepted the job" in refused(tmp_path / "s", monkeypatch, ask, said)
