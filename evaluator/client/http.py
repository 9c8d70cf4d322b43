"""HTTP client for the API of one server, with the standard library only. The token is sent to that server only."""

from __future__ import annotations

import http.client
import json
import os
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import IO, Any, NoReturn

from evaluator.errors import EvaluatorError, SandboxError, UsageError, shown

_SECONDS = 60.0
_MOST_BYTES = 64 << 20  # of a response
_PIECE = 1 << 20
_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_HEADER_UNSAFE = "the token is empty or has an invalid character, expected only letters, digits and - . _ ~ + / ="
Body = bytes | IO[bytes]


class UnavailableError(SandboxError):
    """The server did not respond, responded with a server error, or its response cannot be read.

    The request may have been carried out all the same. status: of the HTTP response; None if there was none.
    nothing_listens: the connection was refused, so that nothing was sent.
    """

    status: int | None = None
    nothing_listens = False


@dataclass
class RefusedError(EvaluatorError):
    """The server refused the request.

    status: the status of the HTTP response. code, message: the server's error code and its explanation. problems: the
    problems of the submitted file, each a dict with `line`, `what`, `found`, `expected` and `text` (all of it in one
    line); more: the number of further problems. fields: name of an invalid parameter -> its errors.
    """

    status: int
    code: str
    message: str
    problems: list[dict[str, Any]] = field(default_factory=list)
    more: int = 0
    fields: dict[str, list[str]] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.message


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Rejects redirects, which would send the token to another address."""

    def redirect_request(self, *arguments: Any) -> NoReturn:
        new_address = arguments[-1]
        raise UsageError(f"the server's address redirects to {shown(new_address)}: use that address")


class Server:
    """Client of one server, with the user's API token.

    address: such as `https://board.example`, without the path of the API. token: None for anonymous access, which can
    read public data only.
    """

    def __init__(self, address: str, token: str | None) -> None:
        """Check the address and the token.

        Raises UsageError if one of them is invalid. token: None for anonymous access.
        """
        invalid = UsageError(f"the server's address is {shown(address)}, expected one like https://board.example")
        try:
            parts = urllib.parse.urlsplit(address)
            _ = parts.port  # raises ValueError for an invalid port
        except ValueError:
            raise invalid from None
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise invalid
        if not address.isascii() or not address.isprintable():
            raise invalid
        if token is not None and not _is_safe(token):
            raise UsageError(_HEADER_UNSAFE)
        self.address = address.rstrip("/")
        self.is_open = parts.scheme == "http" and parts.hostname not in _LOOPBACK
        self._token = token
        self._opener = urllib.request.build_opener(_NoRedirects)

    def get(self, path: str, **query: str) -> Any:
        """Send a GET request to a path below `/api/v1/` and return the response's JSON.

        Raises RefusedError, UnavailableError.
        """
        return self.request("GET", path, query=query)

    def post(
        self,
        path: str,
        payload: Mapping[str, Any],
        *,
        headers: Mapping[str, str] | None = None,
        seconds: float = _SECONDS,
    ) -> Any:
        """Send a POST request with `payload` as its JSON body, and return the response's JSON.

        path: below `/api/v1/`. headers: additional ones. seconds: the timeout. Raises RefusedError, UnavailableError.
        """
        body = json.dumps(payload).encode()
        return self.request("POST", path, body=body, content_type="application/json", headers=headers, seconds=seconds)

    def request(
        self,
        verb: str,
        path: str,
        *,
        query: Mapping[str, str | list[str]] | None = None,
        body: Body | None = None,
        content_type: str = "application/octet-stream",
        headers: Mapping[str, str] | None = None,
        seconds: float = _SECONDS,
    ) -> Any:
        """Send a request and return the response's JSON; None if the response is empty.

        verb: the HTTP method. path: below `/api/v1/`. query: the parameters; None: none. body: bytes, or an open file,
        which is sent whole; None: no body. content_type: that of the body. headers: additional ones. seconds: the
        timeout. Raises RefusedError, UnavailableError.
        """
        headers = {"Accept": "application/json", **(headers or {})}
        if body is not None:
            length = len(body) if isinstance(body, bytes) else os.fstat(body.fileno()).st_size
            headers |= {"Content-Type": content_type, "Content-Length": str(length)}
        with self._opened(verb, path, query=query, body=body, headers=headers, seconds=seconds) as response:
            return _json(self._read(response, _MOST_BYTES))

    def fetch(self, path: str, to: IO[bytes], *, query: Mapping[str, str | list[str]] | None = None) -> str:
        """Send a GET request and write the response's bytes to the file `to`; return its ETag without quotes.

        path: below `/api/v1/`. query: the parameters; None: none. Raises RefusedError, UnavailableError.
        """
        with self._opened("GET", path, query=query, body=None, headers={}, seconds=_SECONDS) as response:
            expected_size, received = int(response.headers.get("Content-Length") or -1), 0
            while piece := self._read(response, _PIECE):
                to.write(piece)
                received += len(piece)
            if expected_size not in (-1, received):
                raise UnavailableError(
                    f"the connection to {self.address} broke after {received} of {expected_size} bytes; try again"
                )
            return str(response.headers.get("ETag", "")).removeprefix("W/").strip('"')

    def _opened(
        self,
        verb: str,
        path: str,
        *,
        query: Mapping[str, str | list[str]] | None,
        body: Body | None,
        headers: dict[str, str],
        seconds: float,
    ) -> Any:
        try:
            query_string = f"?{urllib.parse.urlencode(query, doseq=True)}" if query else ""
            path = urllib.parse.quote(path)
        except UnicodeEncodeError as error:
            raise UsageError(f"{shown(error.object)} has a lone surrogate, expected text") from None
        if self._token is not None:
            headers["Authorization"] = f"Token {self._token}"
        request = urllib.request.Request(  # noqa: S310 - the scheme was checked
            f"{self.address}/api/v1/{path}{query_string}", data=body, headers=headers, method=verb
        )
        try:
            return self._opener.open(request, timeout=seconds)
        except urllib.error.HTTPError as error:
            with error:
                raise _refusal(error) from None
        except (OSError, http.client.HTTPException) as error:
            raise self._away(error) from None

    def _read(self, response: Any, most: int) -> bytes:
        try:
            content: bytes = response.read(most)
        except (OSError, http.client.HTTPException) as error:
            raise self._away(error) from None
        return content

    def _away(self, error: Exception) -> UnavailableError:
        reason = getattr(error, "reason", None) or error
        what = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
        away = UnavailableError(f"no response from {self.address}: {what}")
        away.nothing_listens = isinstance(reason, ConnectionRefusedError)
        return away


def _is_safe(token: str) -> bool:
    return bool(token) and token.isascii() and all(character.isalnum() or character in "-._~+/=" for character in token)


def _refusal(error: urllib.error.HTTPError) -> EvaluatorError:
    try:
        payload = json.loads(error.read(_MOST_BYTES))
        refusal = RefusedError(
            error.code,
            str(payload["code"]),
            str(payload["message"]),
            list(payload.get("problems", [])),
            int(payload.get("more", 0)),
            dict(payload.get("fields", {})),
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError, http.client.HTTPException):
        # A proxy's error page, or not a Holdout server.
        return _unavailable(
            error.code,
            f"the server responded with HTTP status {error.code}, but not with an error message of Holdout: "
            "is this a Holdout server?",
        )
    if error.code >= 500:
        return _unavailable(error.code, f"server error ({refusal.code}): {refusal.message}")
    return refusal


def _unavailable(status: int, message: str) -> UnavailableError:
    error = UnavailableError(message)
    error.status = status
    return error


def _json(content: bytes) -> Any:
    try:
        return json.loads(content) if content else None
    except ValueError:
        raise UnavailableError("the server's response is not JSON: is this a Holdout server?") from None
