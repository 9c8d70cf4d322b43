"""The engine's client: which addresses it accepts, and an engine that hangs while it loads an image."""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from evaluator.errors import SandboxError
from evaluator.sandbox.containers import engine, engine_images
from evaluator.sandbox.containers.engine import Engine, EngineTimeoutError
from evaluator.sandbox.containers.engine_address import engine_address
from evaluator.sandbox.containers.image_errors import LoadTimeError
from evaluator.sandbox.containers.image_reader import read_image
from tests.evaluator.sandbox.containers.archives import Image, stored


def certificates(folder: Path, *names: str) -> str:
    for name in names:
        (folder / name).touch()
    return str(folder)


@pytest.mark.parametrize(
    "url", ["", "unix:///run/docker.sock", "tcp://127.0.0.1:2375", "tcp://[::1]:2375", "tcp://localhost:2375"]
)
def test_addresses_on_this_host_need_no_certificates(url: str) -> None:
    address = engine_address(url, None, allow_plain=False, environment={})
    assert (address.url, address.certs) == (url, None)


@pytest.mark.parametrize(
    "url", ["tcp://engine:2375", "tcp://10.0.0.1:2375", "http://engine:2375", "https://engine:2376"]
)
def test_plain_tcp_to_another_host_is_refused(url: str) -> None:
    for given, environment in ((url, {}), (None, {"DOCKER_HOST": url})):
        with pytest.raises(SandboxError, match="expected TLS to another host: set DOCKER_CERT_PATH"):
            engine_address(given, None, allow_plain=False, environment=environment)


def test_plain_tcp_is_accepted_where_the_operator_says_so() -> None:
    assert engine_address("tcp://engine:2375", None, allow_plain=True, environment={}).certs is None
    with pytest.raises(SandboxError, match="expected TLS"):
        engine_address("https://engine:2376", None, allow_plain=True, environment={})


def test_a_certificate_that_is_missing_is_named(tmp_path: Path) -> None:
    certs = certificates(tmp_path, "ca.pem", "cert.pem")
    with pytest.raises(SandboxError, match=r"expected ca\.pem, cert\.pem and key\.pem .* missing: key\.pem"):
        engine_address("tcp://engine:2376", certs, allow_plain=True, environment={})


def test_certificates_of_dockers_own_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".docker").mkdir()
    certs = certificates(tmp_path / ".docker", "ca.pem", "cert.pem", "key.pem")
    monkeypatch.setenv("HOME", str(tmp_path))
    for environment in ({"DOCKER_CERT_PATH": certs}, {"DOCKER_TLS_VERIFY": "1"}):
        address = engine_address("tcp://engine:2376", None, allow_plain=False, environment=environment)
        assert address.certs == tmp_path / ".docker"
    # The socket of this host has no certificates, whatever the variables say.
    assert engine_address("unix:///s", None, allow_plain=False, environment={"DOCKER_CERT_PATH": certs}).certs is None


class HangingEngine:
    """An engine on a socket that receives an image, sends messages, and then nothing. reads: it receives the image."""

    def __init__(self, folder: Path, messages: Iterable[bytes], *, reads: bool = True) -> None:
        self.url = f"unix://{folder}/engine.sock"
        self._messages, self._reads = messages, reads
        self._over = threading.Event()
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.bind(f"{folder}/engine.sock")
        self._socket.listen()
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._over.set()
        self._socket.close()

    def _serve(self) -> None:
        while not self._over.is_set():
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as request:
            line = request.readline()
            while request.readline().strip():
                pass
            if b"/version" in line:
                body = json.dumps({"ApiVersion": "1.41"}).encode()
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
                return
            if self._reads:
                while request.readline() != b"0\r\n":
                    pass
                connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                with contextlib.suppress(OSError):  # the client has hung up
                    for message in self._messages:
                        connection.sendall(b"%x\r\n%s\r\n" % (len(message), message))
            self._over.wait(60)


@pytest.fixture
def hanging(tmp_path: Path) -> Iterator[Callable[..., Engine]]:
    made: list[HangingEngine] = []

    def make(messages: Iterable[bytes] = (), *, reads: bool = True) -> Engine:
        made.append(HangingEngine(tmp_path, messages, reads=reads))
        return Engine(made[-1].url)

    yield make
    for server in made:
        server.close()


def test_a_load_that_never_answers_is_cut_off(hanging: Callable[..., Engine]) -> None:
    with pytest.raises(EngineTimeoutError):
        hanging().load([b"archive"], 0.2)


def test_a_load_that_is_never_read_is_cut_off(hanging: Callable[..., Engine]) -> None:
    """The engine's socket takes some 200 kB; the rest is never read."""
    with pytest.raises(EngineTimeoutError):
        hanging(reads=False).load(itertools.repeat(bytes(1 << 20), 100), 0.2)


def test_a_load_that_reports_progress_for_ever_is_cut_off(hanging: Callable[..., Engine]) -> None:
    messages = (json.dumps({"status": f"layer {number}"}).encode() + b"\r\n" for number in range(300_000))
    with pytest.raises(EngineTimeoutError, match="did not finish in time"):
        hanging(messages).load([b"archive"], 0.2)


def test_silence_is_cut_off_before_the_limit(hanging: Callable[..., Engine], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "TIMEOUT", 0.2)
    began = time.monotonic()
    with pytest.raises(EngineTimeoutError):
        hanging().load([b"archive"], 3600.0)
    assert time.monotonic() - began < 3600


@pytest.mark.parametrize("is_well", [True, False])
def test_a_slow_load_is_the_images_fault_only_if_the_engine_is_healthy(
    hanging: Callable[..., Engine], tmp_path: Path, is_well: bool
) -> None:
    stored(tmp_path, Image().legacy())
    with (tmp_path / "image.tar").open("rb") as file:
        archive = read_image(file.fileno(), scratch=tmp_path)
        with pytest.raises(LoadTimeError if is_well else EngineTimeoutError) as raised:
            engine_images.load(hanging(), archive, has_containerd_store=False, seconds=0.2, probe=lambda: is_well)
    if is_well:
        assert str(raised.value) == "the engine did not unpack the image within 0.2 seconds"
        assert isinstance(raised.value, LoadTimeError) and not raised.value.is_refunded
