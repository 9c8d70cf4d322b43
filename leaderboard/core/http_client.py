"""SSRF-safe HTTP client for user-supplied URLs: public hosts only, no redirects, no retries, bounded time.

A host name is resolved once, and the connection uses the checked IP address, which prevents DNS rebinding. Of the
response only status line and headers are read.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import socket
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from urllib.parse import SplitResult, urlsplit

SECONDS, ALL_SECONDS = 5.0, 10.0
"""Timeouts in seconds: of one socket operation (connecting, sending, receiving), and of the whole call."""
PORTS = (80, 443)
_UNPRIVILEGED = 1024
_TLS = ssl.create_default_context()
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
# Protocol assignments, 6to4 relays, site-local, documentation: Python 3.11 takes addresses of each for global ones.
_NOT_PUBLIC = tuple(map(ipaddress.ip_network, ("192.0.0.0/24", "192.88.99.0/24", "fec0::/10", "3fff::/20")))


class RequestFailedError(Exception):
    """Error: an HTTP call failed. The message is for the user who supplied the URL.

    It has at most 100 characters and reveals nothing about the server's own network.
    """


class AddressError(ValueError):
    """Error: a URL is invalid. The message names the invalid part and the expected form."""


@dataclass(frozen=True)
class Target:
    """The parts of a validated URL. `path` includes the query string."""

    scheme: str
    host: str
    port: int
    path: str

    @property
    def authority(self) -> str:
        """Value of the Host header: the host, with the port unless it is the default port of the scheme."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return name if self.port == (443 if self.scheme == "https" else 80) else f"{name}:{self.port}"


def target(url: str) -> Target:
    """Parse and validate an http or https URL, without resolving its host.

    Raises AddressError for a malformed URL, spaces or non-ASCII characters, another scheme, a user name, a password, a
    fragment, and ports below 1024 other than 80 and 443.
    """
    if not url.isascii() or not url.isprintable() or " " in url:
        raise AddressError("the address contains spaces or non-ASCII characters, expected https://host/path")
    try:
        parts: SplitResult = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        raise AddressError("the address is malformed, expected https://host/path") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise AddressError(f"the address begins with {url[:12]!r}, expected https:// or http:// and a host name")
    if parts.username is not None or parts.password is not None:
        raise AddressError("the address contains a user name or a password before @, expected https://host/path")
    if parts.fragment:
        raise AddressError("the address contains a fragment after #, expected https://host/path")
    if port not in PORTS and port < _UNPRIVILEGED:
        raise AddressError(f"the port is {port}, expected 80, 443, or at least {_UNPRIVILEGED}")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.scheme, parts.hostname, port, path)


def is_public(address: str) -> bool:
    """Return whether an IP address belongs to the public internet.

    For an IPv6 address that embeds an IPv4 address (IPv4-mapped, 6to4, Teredo, NAT64) the embedded address decides.
    """
    ip: ipaddress.IPv4Address | ipaddress.IPv6Address = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = ip.ipv4_mapped or ip.sixtofour or (ip.teredo[1] if ip.teredo else None)
        if inner is None and ip in _NAT64:
            inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(str(inner))
    is_special = ip.is_multicast or ip.is_reserved or ip.is_unspecified or any(ip in network for network in _NOT_PUBLIC)
    return ip.is_global and not is_special


def post(url: str, body: bytes, headers: Mapping[str, str], *, also: tuple[str, ...] = ()) -> int:
    """POST a body to a URL and return the status code of the response, without following redirects.

    also: host names that may be called although their IP addresses are not public. Raises RequestFailedError if the URL
    is invalid, if its host is not public, and if there is no valid response in time.
    """
    try:
        dest = target(url)
    except AddressError as error:
        raise RequestFailedError(str(error)) from None
    address = _resolved(dest, also)
    connection = http.client.HTTPConnection(dest.host, dest.port)
    with _Deadline() as deadline:
        try:
            connection.sock = deadline.watched(socket.create_connection((address, dest.port), SECONDS))
            if dest.scheme == "https":
                # The certificate is checked against the host name, not the resolved address.
                connection.sock = _TLS.wrap_socket(connection.sock, server_hostname=dest.host)
            connection.request("POST", dest.path, body, {"Host": dest.authority, "Connection": "close", **headers})
            status = connection.getresponse().status
            if deadline.is_over:
                # http.client takes a response that ends within its headers for a complete one.
                raise TimeoutError
            return status
        except (OSError, http.client.HTTPException) as error:
            if deadline.is_over or isinstance(error, TimeoutError):
                limits = f"at most {SECONDS:g} seconds for a step and {ALL_SECONDS:g} in all"
                raise RequestFailedError(f"the call took too long, expected {limits}") from None
            if isinstance(error, ssl.SSLError):
                cause = getattr(error, "verify_message", "") or error.reason or "no reason given"
                raise RequestFailedError(f"the TLS connection failed: {cause}"[:100]) from None
            raise RequestFailedError("there was no valid HTTP response") from None
        finally:
            connection.close()


class _Deadline:
    """Context manager that shuts a socket down after ALL_SECONDS, and sets `is_over`.

    A socket timeout alone never fires on a peer that sends a byte now and then.
    """

    def __init__(self) -> None:
        self.is_over = False
        self._raw: socket.socket | None = None
        self._timer = threading.Timer(ALL_SECONDS, self._end)
        self._timer.daemon = True

    def watched(self, connected: socket.socket) -> socket.socket:
        # Wrapping a socket in TLS detaches it; the duplicate stays valid.
        self._raw = connected.dup()
        return connected

    def _end(self) -> None:
        self.is_over = True
        if self._raw is not None:
            with contextlib.suppress(OSError):
                self._raw.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> _Deadline:
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if self._raw is not None:
            self._raw.close()


def _resolved(where: Target, also: tuple[str, ...]) -> str:
    """Resolve the host of `where` to an IP address.

    also: host names whose addresses need not be public. Raises RequestFailedError if the host name does not resolve, or
    if any of its addresses is not public and the host name is not in `also`.
    """
    try:
        infos = socket.getaddrinfo(where.host, where.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise RequestFailedError("the host name does not resolve to an address") from None
    addresses = [str(info[4][0]) for info in infos]
    if where.host not in also and not all(map(is_public, addresses)):
        raise RequestFailedError("the host is not on the public internet")
    return addresses[0]
