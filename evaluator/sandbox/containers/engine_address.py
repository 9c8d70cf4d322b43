"""Address of a Docker engine, and the certificates with which it is reached over TLS."""

from __future__ import annotations

import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from evaluator.errors import SandboxError, shown

CA, CERT, KEY = "ca.pem", "cert.pem", "key.pem"


class EngineAddress(msgspec.Struct, frozen=True):
    """An engine's address. url: empty: Docker's usual socket. certs: folder of the TLS certificates; None: no TLS."""

    url: str
    certs: Path | None

    def certificate(self, name: str) -> str:
        assert self.certs is not None, "only an address with TLS has certificates"
        return str(self.certs / name)


def engine_address(
    url: str | None, certs: str | None, *, allow_plain: bool, environment: Mapping[str, str] = os.environ
) -> EngineAddress:
    """Return the engine's address. A url or certs of None is taken from Docker's own environment variables.

    certs: a folder with ca.pem, cert.pem and key.pem; if DOCKER_TLS_VERIFY is set and no folder is, ~/.docker, as for
    Docker's own client. allow_plain: True to accept TCP without TLS to another host. It is dangerous, since a client of
    an engine is root on the engine's host and sees the inputs. Raises SandboxError, with advice, for TCP without TLS
    that is not accepted, or if a certificate is missing.
    """
    url = url or environment.get("DOCKER_HOST", "")
    folder = certs or environment.get("DOCKER_CERT_PATH", "")
    if not folder and environment.get("DOCKER_TLS_VERIFY"):
        folder = str(Path.home() / ".docker")
    parts = urlsplit(url)
    if parts.scheme not in ("tcp", "http", "https"):
        return EngineAddress(url, None)
    if folder:
        _check_certificates(Path(folder))
        return EngineAddress(url, Path(folder))
    if parts.scheme == "https" or not (allow_plain or _is_loopback(parts.hostname or "")):
        raise SandboxError(
            f"the engine's address is {shown(url)} and no certificates are given, expected TLS to another host: set "
            f"DOCKER_CERT_PATH to a folder with {CA}, {CERT} and {KEY}, or, on a network that nobody else can reach, "
            "HOLDOUT_ENGINE_PLAIN=true"
        )
    return EngineAddress(url, None)


def _check_certificates(folder: Path) -> None:
    missing = [name for name in (CA, CERT, KEY) if not os.access(folder / name, os.R_OK)]
    if missing:
        raise SandboxError(
            f"the engine's certificates are looked for in {folder}, expected {CA}, {CERT} and {KEY} that this process "
            f"may read; missing: {', '.join(missing)}"
        )


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
