"""The check of what a log-in provider says, before anything uses it.

OpenID Connect Core 1.0, sections 2 (ID token), 3.1.3.3 (token response), 3.1.3.7 (validation of the ID token) and 5.3.2
(userinfo), and OpenID Connect Discovery 1.0, section 3. django-allauth checks issuer, audience and expiry of an ID
token; the connection to the provider (TLS) replaces its signature. Errors never quote what the provider said.
"""

from __future__ import annotations

import base64
import binascii
import unicodedata
from collections.abc import Callable
from typing import Annotated, Any
from urllib.parse import urlsplit

import msgspec
from django.utils.crypto import constant_time_compare, salted_hmac

MAX_BYTES = 1_000_000
"""Maximum size of one response of a provider."""

Subject = Annotated[str, msgspec.Meta(min_length=1, max_length=255, pattern=r"\A[!-~]([ -~]*[!-~])?\Z")]
Name = Annotated[str, msgspec.Meta(max_length=1000)] | None
Address = Annotated[str, msgspec.Meta(max_length=254)] | None
Time = Annotated[float, msgspec.Meta(ge=0, le=253_402_300_799)]
"""Seconds since 1970, until the year 9999."""


class ClaimsError(ValueError):
    """What a provider said is not what the protocol demands. The text names the member and what is wrong with it."""


class Discovery(msgspec.Struct):
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    userinfo_endpoint: str
    jwks_uri: str
    token_endpoint_auth_methods_supported: list[str] = []


class Person(msgspec.Struct):
    """Members of a userinfo response, an ID token or GitHub's `/user` from which an account is made."""

    sub: Subject | msgspec.UnsetType = msgspec.UNSET
    id: Annotated[int, msgspec.Meta(ge=1)] | msgspec.UnsetType = msgspec.UNSET
    email: Address = None
    name: Name = None
    preferred_username: Name = None
    login: Name = None


class Tokens(msgspec.Struct):
    # It is sent back in a header (RFC 6749, A.12).
    access_token: Annotated[str, msgspec.Meta(pattern=r"\A[ -~]+\Z")]
    id_token: str | None = None
    refresh_token: str | None = None
    # Some providers send the number as text.
    expires_in: (
        Annotated[int, msgspec.Meta(ge=0, le=10**9)] | Annotated[str, msgspec.Meta(pattern=r"\A[0-9]{1,9}\Z")] | None
    ) = None


class IdToken(Person, kw_only=True):
    sub: Subject
    iss: str
    aud: str | list[str]
    exp: Time
    iat: Time
    nonce: str
    azp: str | None = None
    jti: str | None = None


class MailAddress(msgspec.Struct):
    """An entry of GitHub's `/user/emails`."""

    email: Address
    primary: bool
    verified: bool


def check_document(content: bytes, *, is_discovery: bool) -> None:
    """Check the JSON document that a provider sent. Raises ClaimsError.

    is_discovery: whether it is the provider's configuration; otherwise it has tokens or describes a person.
    """
    document = _parsed(content)
    if is_discovery:
        discovery = _converted(document, Discovery)
        for name in ("authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri"):
            if not is_web_address(getattr(discovery, name)):
                raise ClaimsError(f"{name} is no https address")
    elif isinstance(document, list):
        _converted(document, list[MailAddress])
    elif isinstance(document, dict) and "access_token" in document:
        tokens = _converted(document, Tokens)
        if tokens.id_token is not None:
            _converted(_payload(tokens.id_token), IdToken)
    else:
        _converted(document, Person)


def check_person(said: Any, *, client_id: str, nonce: str) -> None:
    """Check what an OpenID Connect provider said of a person. Raises ClaimsError.

    said: {"id_token": claims, "userinfo": claims}. client_id: of this site at the provider. nonce: that of the request.
    """
    token, userinfo = _converted(said.get("id_token"), IdToken), _converted(said.get("userinfo"), Person)
    if token.sub != userinfo.sub:
        raise ClaimsError("sub differs between the ID token and userinfo")
    if not constant_time_compare(token.nonce, nonce):
        raise ClaimsError("nonce is not that of the request")
    if isinstance(token.aud, list) and len(token.aud) > 1 and token.azp is None:
        raise ClaimsError("azp is missing, and aud has several values")
    if token.azp not in (None, client_id):
        raise ClaimsError("azp is another client")


def check_github(said: Any) -> None:
    """Check what GitHub said of a person. Raises ClaimsError."""
    if _converted(said, Person).id is msgspec.UNSET:
        raise ClaimsError("id is missing")


def nonce_of(state: str) -> str:
    """Return the nonce of a log-in: a keyed digest of its state, which is random and in the session."""
    return salted_hmac("login-nonce", state, algorithm="sha256").hexdigest()


def is_web_address(address: Any) -> bool:
    """Return whether the address is an https:// URL with a host, or an http:// URL of localhost or 127.0.0.1."""
    try:
        parts = urlsplit(str(address))
        host = parts.hostname
    except ValueError:
        return False
    return bool(host) and (parts.scheme == "https" or (parts.scheme == "http" and host in ("localhost", "127.0.0.1")))


def _parsed(content: bytes) -> Any:
    return _or_error(lambda: msgspec.json.decode(content))


def _payload(token: str) -> Any:
    """Return the claims of an ID token, the second part of a JSON Web Signature."""
    parts = token.split(".")
    if len(parts) != 3:
        raise ClaimsError("id_token is no JSON Web Signature")
    return _or_error(lambda: msgspec.json.decode(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4))))


def _converted(document: Any, kind: Any) -> Any:
    """Return the document as a struct. Raises ClaimsError, also for text that no database stores."""
    struct = _or_error(lambda: msgspec.convert(document, kind))
    for row in struct if isinstance(struct, list) else [struct]:
        for name in row.__struct_fields__:
            value = getattr(row, name)
            if isinstance(value, str) and any(unicodedata.category(sign) in ("Cc", "Cs") for sign in value):
                raise ClaimsError(f"{name} has control characters")
    return struct


def _or_error(read: Callable[[], Any]) -> Any:
    try:
        return read()
    except msgspec.ValidationError as error:
        raise ClaimsError(str(error)) from error
    except (msgspec.DecodeError, UnicodeError, binascii.Error, RecursionError) as error:
        raise ClaimsError("not JSON") from error
