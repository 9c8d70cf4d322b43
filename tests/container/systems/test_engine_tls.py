"""An engine that listens with TLS: its certificate is verified, and the client's is required."""

from __future__ import annotations

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from evaluator.errors import SandboxError
from evaluator.sandbox.containers.engine import Engine
from tests.container.systems.own_engine import OwnEngine, own_engine

pytestmark = pytest.mark.root
"""The engine is started by the tests."""


def openssl(*arguments: str) -> None:
    subprocess.run(["openssl", *arguments], check=True, capture_output=True)


class Authority:
    """A certificate authority in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.key, self.certificate = str(folder / "ca-key.pem"), str(folder / "ca.pem")
        new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", self.key]
        openssl("req", "-x509", *new_key, "-out", self.certificate, "-subj", f"/CN=authority {folder.name}")

    def sign(self, name: str, *, hosts: str = "IP:127.0.0.1", days: int = 2) -> tuple[str, str]:
        """Return the paths of a certificate and its key; days: of its validity, which ended yesterday if below 0."""
        key, request, signed = (str(self.folder / f"{name}{end}") for end in ("-key.pem", ".csr", ".pem"))
        names = self.folder / f"{name}.names"
        names.write_text(f"subjectAltName={hosts}\nextendedKeyUsage=serverAuth,clientAuth\n")
        new_key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key]
        openssl("req", *new_key, "-out", request, "-subj", f"/CN={name}")
        by = ["-CA", self.certificate, "-CAkey", self.key, "-CAcreateserial", "-extfile", str(names)]
        openssl("x509", "-req", "-in", request, "-out", signed, *by, "-days", str(days))
        return signed, key

    def client(self, folder: Path, *, ca: Authority | None = None, signed_by: Authority | None = None) -> str:
        """Make a folder as DOCKER_CERT_PATH names it. ca: which the client trusts."""
        folder.mkdir()
        certificate, key = (signed_by or self).sign("client")
        (folder / "ca.pem").symlink_to((ca or self).certificate)
        (folder / "cert.pem").symlink_to(certificate)
        (folder / "key.pem").symlink_to(key)
        return str(folder)


class TlsEngine:
    def __init__(self, own: OwnEngine, authority: Authority) -> None:
        self.own, self.authority = own, authority
        assert own.listener
        self.url = f"tcp://127.0.0.1:{own.listener.getsockname()[1]}"
        self.serve(*authority.sign("engine"))

    def serve(self, certificate: str, key: str) -> None:
        """Start the engine, or start it again, with this certificate."""
        self.own.stop()
        trusted = self.authority.certificate
        self.own.options = ["--host", "fd://", "--tlsverify", f"--tlscacert={trusted}"]
        self.own.options += [f"--tlscert={certificate}", f"--tlskey={key}"]
        self.own.start()

    def info(self, certs: str | None, url: str = "") -> object:
        return Engine(url or self.url, certs=certs).info()["ServerVersion"]


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TlsEngine]:
    folder = tmp_path_factory.mktemp("tls")
    with socket.create_server(("127.0.0.1", 0)) as listener, own_engine(folder) as own:
        own.listener = listener
        yield TlsEngine(own, Authority(folder / "authority"))


def test_an_engine_over_tls(tls: TlsEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    certs = tls.authority.client(tmp_path / "certs")
    assert tls.info(certs)
    # Neither the machine's authorities nor a proxy replace what is given.
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", "/etc/ssl/certs/ca-certificates.crt")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    assert tls.info(certs)
    monkeypatch.setenv("DOCKER_HOST", tls.url)
    monkeypatch.setenv("DOCKER_CERT_PATH", certs)
    assert Engine().info()


def test_an_engine_whose_certificate_another_authority_signed(tls: TlsEngine, tmp_path: Path) -> None:
    certs = tls.authority.client(tmp_path / "certs", ca=Authority(tmp_path / "other"))
    with pytest.raises(SandboxError, match=r"certificate is refused \(unable to get local issuer certificate\), expec"):
        tls.info(certs)


def test_a_client_whose_certificate_another_authority_signed(tls: TlsEngine, tmp_path: Path) -> None:
    certs = tls.authority.client(tmp_path / "certs", signed_by=Authority(tmp_path / "other"))
    with pytest.raises(SandboxError, match=r"TLS with the engine fails .*accepts cert\.pem"):
        tls.info(certs)


def test_a_certificate_for_another_host(tls: TlsEngine, tmp_path: Path) -> None:
    """The certificate is for 127.0.0.1 only."""
    certs = tls.authority.client(tmp_path / "certs")
    with pytest.raises(SandboxError, match=r"certificate is refused .*'localhost'"):
        tls.info(certs, url=tls.url.replace("127.0.0.1", "localhost"))


def test_an_engine_whose_certificate_has_expired(tls: TlsEngine, tmp_path: Path) -> None:
    certs = tls.authority.client(tmp_path / "certs")
    tls.serve(*tls.authority.sign("expired", days=-1))
    try:
        with pytest.raises(SandboxError, match=r"certificate is refused \(certificate has expired\)"):
            tls.info(certs)
    finally:
        tls.serve(*tls.authority.sign("engine"))


def test_tcp_without_certificates_to_an_engine_that_requires_them(tls: TlsEngine) -> None:
    with pytest.raises(SandboxError, match="HTTP request to an HTTPS server"):
        tls.info(None)
