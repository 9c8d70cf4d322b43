"""Log-in with accounts at other sites: settings of django-allauth from the environment variables HOLDOUT_LOGIN_*.

ORCID and Google are used as OpenID Connect providers like any other. Error messages never quote a secret.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from leaderboard.core.login_claims import is_web_address

ORCID = "orcid"
RESERVED = (ORCID, "google", "github")
REQUIRED, OPTIONAL = ("id", "name", "server", "client_id", "secret"), ("origins",)


@dataclass(frozen=True)
class LoginProvider:
    """Another site, such as ORCID, whose accounts users may log in with.

    id: the provider in URLs and in the table of linked accounts. app: the django-allauth app that implements its
    protocol. origins: web origins, such as https://orcid.org, to which its log-in may redirect the browser. settings:
    options of that app for this provider.
    """

    id: str
    name: str
    app: str
    client_id: str
    secret: str = field(repr=False)
    origins: tuple[str, ...]
    settings: dict[str, Any] = field(default_factory=dict)


def configured(*, orcid: str, github: str, google: str, oidc: str) -> tuple[LoginProvider, ...]:
    """Return the log-in providers that environment variables configure, in the order of their buttons.

    orcid, github, google: "CLIENT_ID:SECRET", or "" for none. oidc: a JSON list of objects with the keys REQUIRED and
    OPTIONAL, or "" for none. Raises ImproperlyConfigured for any other value.
    """
    providers = []
    if orcid:
        # ORCID refuses scopes for data that it does not give to this protocol.
        settings = {"server_url": "https://orcid.org", "scope": ["openid"]}
        providers.append(
            LoginProvider(ORCID, "ORCID", "openid_connect", *_pair("ORCID", orcid), ("https://orcid.org",), settings)
        )
    if github:
        providers.append(LoginProvider("github", "GitHub", "github", *_pair("GITHUB", github), ("https://github.com",)))
    if google:
        address = "https://accounts.google.com"
        settings = {"server_url": address}
        providers.append(
            LoginProvider("google", "Google", "openid_connect", *_pair("GOOGLE", google), (address,), settings)
        )
    return (*providers, *_others(oidc))


def allauth_settings(providers: tuple[LoginProvider, ...]) -> dict[str, Any]:
    """Return the value of django-allauth's setting SOCIALACCOUNT_PROVIDERS for these providers."""
    apps: dict[str, Any] = {}
    for provider in providers:
        app = apps.setdefault(provider.app, {"APPS": [], "OAUTH_PKCE_ENABLED": True})
        app["APPS"].append(
            {
                "provider_id": provider.id if provider.app == "openid_connect" else "",
                "name": provider.name,
                "client_id": provider.client_id,
                "secret": provider.secret,
                "settings": provider.settings,
            }
        )
    return apps


def _pair(name: str, value: str) -> tuple[str, str]:
    client_id, colon, secret = value.partition(":")
    if not (client_id and colon and secret):
        raise ImproperlyConfigured(
            f"HOLDOUT_LOGIN_{name} has {len(value)} characters, expected CLIENT_ID:SECRET, as the provider gave them"
        )
    return client_id, secret


def _others(value: str) -> Iterator[LoginProvider]:
    if not value:
        return
    expected = f"a JSON list of objects with {', '.join(REQUIRED)}, and optionally {', '.join(OPTIONAL)}"
    try:
        entries = json.loads(value)
    except ValueError as error:
        raise ImproperlyConfigured(f"HOLDOUT_LOGIN_OIDC is not JSON, expected {expected}") from error
    if not isinstance(entries, list):
        raise ImproperlyConfigured(f"HOLDOUT_LOGIN_OIDC is not a list, expected {expected}")
    ids = set(RESERVED)
    for number, entry in enumerate(entries, start=1):
        where = f"HOLDOUT_LOGIN_OIDC, provider {number}"
        if not isinstance(entry, dict) or not set(REQUIRED) <= entry.keys() <= {*REQUIRED, *OPTIONAL}:
            raise ImproperlyConfigured(f"{where} has unknown or missing keys, expected {expected}")
        if not all(isinstance(entry[key], str) and entry[key] for key in REQUIRED):
            raise ImproperlyConfigured(f"{where} has an empty value, or one that is not text, expected {expected}")
        if not re.fullmatch(r"[a-z0-9-]{1,30}", entry["id"]) or entry["id"] in ids:
            raise ImproperlyConfigured(
                f"{where} has the id {entry['id']!r}, expected a unique id of small letters, digits and hyphens, "
                f"other than {', '.join(RESERVED)}"
            )
        ids.add(entry["id"])
        addresses = [entry["server"], *entry.get("origins", [])]
        if not all(is_web_address(address) for address in addresses):
            raise ImproperlyConfigured(f"{where} has the addresses {addresses}, expected each to begin with https://")
        yield LoginProvider(
            id=entry["id"],
            name=entry["name"],
            app="openid_connect",
            client_id=entry["client_id"],
            secret=entry["secret"],
            origins=tuple(dict.fromkeys(_origin(address) for address in addresses)),
            settings={"server_url": entry["server"]},
        )


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"
