"""Log-in by the browser: the OAuth 2.0 device authorization grant (RFC 8628)."""

from __future__ import annotations

import os
import sys
import time
import urllib.parse
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from evaluator.cli.output import say
from evaluator.client.http import RefusedError, Server, UnavailableError
from evaluator.errors import UsageError

CLIENT = "holdout-eval"
GRANT = "urn:ietf:params:oauth:grant-type:device_code"


def token(server: Server, name: str, *, pause: Callable[[float], None] = time.sleep) -> tuple[str, str]:
    """Show a code, open the browser, and wait until the user allows the log-in there.

    Return (the token, the day on which it expires, as YYYY-MM-DD). name: the name that the token gets on the server.
    pause: a function that sleeps for a number of seconds. Raises RefusedError if the log-in is denied, UnavailableError
    if the server does not respond to the request for a code, and UsageError if the code expires or the server's version
    has no log-in by the browser.
    """
    try:
        code = _post(server, "auth/device/", client_id=CLIENT)
    except RefusedError as error:
        if error.status != 404:
            raise
        raise UsageError(
            "the server has no log-in by the browser, expected --user NAME, or --token-file FILE with a token from the "
            "site"
        ) from None
    _show(code)
    waited, interval = 0.0, float(code.get("interval", 5))
    while waited < code["expires_in"]:
        try:
            issued = _post(
                server,
                "auth/device/token/",
                grant_type=GRANT,
                client_id=CLIENT,
                device_code=code["device_code"],
                name=name,
            )
        except UnavailableError:
            interval = min(2 * interval, 30.0)
        except RefusedError as error:
            if error.code == "slow_down":
                interval += 5
            elif error.code in ("invalid_grant", "expired_token"):
                break
            elif error.code != "authorization_pending":
                raise
        else:
            until = datetime.now(UTC) + timedelta(seconds=issued["expires_in"])
            return str(issued["access_token"]), f"{until:%Y-%m-%d}"
        pause(interval)
        waited += interval
    raise UsageError("the code has expired: run holdout-eval login again")


def _show(code: dict[str, Any]) -> None:
    """Print the address and the code for the log-in, and open the address if there is a graphical browser.

    code: the server's response, in the form of RFC 8628.
    """
    page = code["verification_uri_complete"]
    # Without a display, Python would start a text browser in this terminal.
    has_display = any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))
    is_opened = False
    if has_display or sys.platform in ("darwin", "win32"):
        import webbrowser

        is_opened = webbrowser.open(page)
    if is_opened:
        say(f"allow the log-in in your browser, which opens {page}")
        say(f"it shows the code {code['user_code']}")
    else:
        say(f"open {code['verification_uri']} in a browser, on any device, and enter the code {code['user_code']}")
    say("waiting ... (Ctrl-C cancels)")


def _post(server: Server, path: str, **fields: str) -> Any:
    body = urllib.parse.urlencode(fields).encode()
    return server.request("POST", path, body=body, content_type="application/x-www-form-urlencoded")
