"""Lookup of a command's server and API token.

The token is never a command-line argument, because every process of the machine can read those.
"""

from __future__ import annotations

import os
from pathlib import Path

from evaluator.cli.output import say
from evaluator.cli.server import token_store
from evaluator.cli.server.http import Server
from evaluator.errors import UsageError, shown

VARIABLE = "HOLDOUT_TOKEN"


def connect(address: str | None, token_file: str | None, *, needs_token: bool = True) -> Server:
    """Return a client for the server at `address`; if that is None, for the server of the last log-in.

    token_file: the path of a file with the token; None: HOLDOUT_TOKEN, then the stored token. needs_token: False for
    commands that read public data, and so need no token. Raises UsageError if there is no address, or a token is
    needed and there is none.
    """
    server_address = address or token_store.read().latest
    if not server_address:
        raise UsageError(
            "no server is given, expected --server https://...; or log in first: holdout login --server https://..."
        )
    token = _find_token(server_address, token_file)
    if token is None and needs_token:
        raise UsageError(f"there is no token: run holdout login, set {VARIABLE}, or give --token-file FILE")
    server = Server(server_address, token)
    if server.is_open and token is not None:
        say("warning: the address is plain http, so others on the network can read the token")
    return server


def _find_token(server: str, file: str | None) -> str | None:
    """Return the token from the file, else from the environment, else the stored one; None if there is none."""
    if file is not None:
        return from_file(file)
    return os.environ.get(VARIABLE, "").strip() or token_store.read().tokens.get(server.rstrip("/"))


def from_file(path: str) -> str:
    """Return the token in a file. Raises UsageError if it cannot be read; the message does not quote its content."""
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not a text file with a token"
        raise UsageError(f"cannot read --token-file {shown(path)}: {why}") from None
