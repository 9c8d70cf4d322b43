"""A real OpenID Connect provider over HTTP, and a person who logs in there with a browser without scripts."""

from __future__ import annotations

import json
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.test import Client
from oidc_provider_mock import User, run_server_in_thread

from leaderboard.core import login_providers


@contextmanager
def running(*users: User) -> Iterator[str]:
    """Start the provider with these accounts; yield its address."""
    with run_server_in_thread(user_claims=users) as server:
        yield f"http://localhost:{server.server_port}"


def configure(settings: Any, *ids: str, address: str) -> None:
    """Configure providers with these ids, all at this address. `orcid` gets the scopes of the real one."""
    others = [
        {"id": one, "name": one.upper(), "server": address, "client_id": "x", "secret": "y"}
        for one in ids
        if one != login_providers.ORCID
    ]
    providers = login_providers.configured(
        orcid="APP-1:secret" if login_providers.ORCID in ids else "",
        github="",
        google="",
        oidc=json.dumps(others) if others else "",
    )
    for provider in providers:
        provider.settings["server_url"] = address
    settings.LOGIN_PROVIDERS = providers
    settings.SOCIALACCOUNT_PROVIDERS = login_providers.allauth_settings(providers)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


def log_in(client: Client, sub: str, *, provider: str, process: str = "login", deny: bool = False) -> Any:
    """Log in at the provider as `sub` and return the site's response to the browser that comes back."""
    begun = client.post(f"/accounts/oidc/{provider}/login/?process={process}")
    assert begun.status_code == 302, begun.content
    if deny:
        [state] = urllib.parse.parse_qs(urllib.parse.urlsplit(begun["Location"]).query)["state"]
        return client.get(f"/accounts/oidc/{provider}/login/callback/?error=access_denied&state={state}")
    form = urllib.parse.urlencode({"sub": sub}).encode()
    try:
        urllib.request.build_opener(_NoRedirects).open(begun["Location"], data=form)
    except urllib.error.HTTPError as redirect:
        with redirect:
            return client.get(
                urllib.parse.urlsplit(redirect.headers["Location"])._replace(scheme="", netloc="").geturl()
            )
    raise AssertionError("the provider did not redirect")
