"""`holdout login` and `holdout logout`: a token for a name and a password, kept for the commands that follow."""

from __future__ import annotations

import argparse
import getpass
import sys

from evaluator.cli.output import say
from evaluator.cli.server import token_store
from evaluator.cli.server.http import RefusedError, Server
from evaluator.cli.server.tokens import from_file
from evaluator.errors import UsageError
from evaluator.exit_codes import DONE


def login(given: argparse.Namespace) -> int:
    """The exit status. Raises UsageError, RefusedError and SandboxError."""
    address = given.server.rstrip("/")
    known = token_store.read()
    server = Server(address, None)
    if server.is_open:
        say("warning: the address is plain http, so whoever is on the way can read what is sent")
    token = from_file(given.token_file) if given.token_file else _asked_for(server, given.user)
    # Whose it is, and whether it is one at all, only the server knows.
    Server(address, token).get("submissions/", page_size="1")
    known.tokens[address] = token
    known.latest = address
    token_store.write(known)
    say(f"logged in to {address}; the token is in {token_store.place()}, for you alone")
    return DONE


def logout(given: argparse.Namespace) -> int:
    """Revokes the token and forgets it; one that the server knows no more is forgotten as well."""
    known = token_store.read()
    address = (given.server or known.latest).rstrip("/")
    token = known.tokens.pop(address, None)
    if token is None:
        raise UsageError(f"you are not logged in to {address or 'any server'}")
    try:
        Server(address, token).request("DELETE", "auth/tokens/current/")
    except RefusedError as error:
        if error.status != 401:
            raise
    known.latest = "" if known.latest == address else known.latest
    token_store.write(known)
    say(f"logged out of {address}; the token is revoked")
    return DONE


def _asked_for(server: Server, user: str | None) -> str:
    """A token for what the person types. The password is shown nowhere, and kept nowhere."""
    if not sys.stdin.isatty():
        raise UsageError("a password is asked for at a terminal; without one give --token-file FILE")
    say(f"{server.address}: your name and password there")
    name = user or input("Username or e-mail: ")
    told = server.post("auth/tokens/", {"username": name, "password": getpass.getpass("Password: ")})
    return str(told["token"])
