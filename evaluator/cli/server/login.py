"""`holdout-eval login` and `logout`: get an API token, and store it for later commands."""

from __future__ import annotations

import argparse
import getpass
import socket
import sys

from evaluator.cli.output import say
from evaluator.cli.server import browser_login
from evaluator.client import token_store
from evaluator.client.http import RefusedError, Server
from evaluator.client.tokens import from_file
from evaluator.errors import UsageError
from evaluator.exit_codes import DONE


def login(args: argparse.Namespace) -> int:
    """Log in, store the token and return the exit status.

    Raises UsageError for invalid arguments, RefusedError for a wrong password or token or a log-in that is denied, and
    SandboxError if the server does not respond.
    """
    address = args.server.rstrip("/")
    stored = token_store.read()
    server = Server(address, None)
    if server.is_open:
        say("warning: the address is plain http, so others on the network can read what is sent")
    # The token's name contains this host's name, so that users recognise the token in their settings on the site.
    name = f"holdout-eval login on {socket.gethostname()}"[:60]
    if args.token_file:
        token, until = from_file(args.token_file), ""
    elif args.user:
        token, until = _token_for_password(server, args.user, name)
    else:
        token, until = browser_login.token(server, name)
    # Only the server knows if the token is valid.
    Server(address, token).get("submissions/", page_size="1")
    stored.tokens[address] = token
    stored.latest = address
    token_store.write(stored)
    say(f"logged in to {address}; the token is stored in {token_store.token_path()}, which only you can read")
    if until:
        say(f"the token expires on {until}")
    return DONE


def logout(args: argparse.Namespace) -> int:
    """Revoke the stored token on the server, delete it from the token file and return the exit status.

    A token that the server no longer accepts is deleted as well. Raises UsageError if no token is stored.
    """
    stored = token_store.read()
    address = (args.server or stored.latest).rstrip("/")
    token = stored.tokens.pop(address, None)
    if token is None:
        raise UsageError(f"you are not logged in to {address or 'any server'}")
    try:
        Server(address, token).request("DELETE", "auth/tokens/current/")
    except RefusedError as error:
        if error.status != 401:
            raise
    stored.latest = "" if stored.latest == address else stored.latest
    token_store.write(stored)
    say(f"logged out of {address}; the token is revoked")
    return DONE


def _token_for_password(server: Server, user: str, name: str) -> tuple[str, str]:
    """Prompt for the password; return (a token that the server lists as `name`, the day on which it expires).

    The password is neither displayed nor stored.
    """
    if not sys.stdin.isatty():
        raise UsageError(
            "there is no terminal to ask for a password, expected --token-file FILE, or no --user (browser log-in)"
        )
    say(f"log in to {server.address}")
    credentials = {"username": user, "password": getpass.getpass("Password: ")}
    response = server.post("auth/tokens/", {**credentials, "name": name})
    return str(response["token"]), str(response.get("expires_at", ""))[:10]
