"""`holdout login` and `holdout logout`: get a token for a user name and password, and store it for later commands."""

from __future__ import annotations

import argparse
import getpass
import socket
import sys

from evaluator.cli.output import say
from evaluator.client import token_store
from evaluator.client.http import RefusedError, Server
from evaluator.client.tokens import from_file
from evaluator.errors import UsageError
from evaluator.exit_codes import DONE


def login(args: argparse.Namespace) -> int:
    """Log in, store the token and return the exit status.

    Raises UsageError for invalid arguments, RefusedError for a wrong password or token, and SandboxError if the server
    does not respond.
    """
    address = args.server.rstrip("/")
    stored = token_store.read()
    server = Server(address, None)
    if server.is_open:
        say("warning: the address is plain http, so others on the network can read what is sent")
    token, until = (from_file(args.token_file), "") if args.token_file else _prompt_for_token(server, args.user)
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


def _prompt_for_token(server: Server, user: str | None) -> tuple[str, str]:
    """Prompt for name and password, and return a token for them, and the day on which it expires.

    The password is neither displayed nor stored. The token's name has the host's, so that users recognise it in their
    settings on the site.
    """
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask for a password, expected --token-file FILE")
    say(f"log in to {server.address}")
    name = user or input("Username or e-mail: ")
    credentials = {"username": name, "password": getpass.getpass("Password: ")}
    response = server.post("auth/tokens/", {**credentials, "name": f"holdout login on {socket.gethostname()}"[:60]})
    return str(response["token"]), str(response.get("expires_at", ""))[:10]
