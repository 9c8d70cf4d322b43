"""Finds a command's server and API token. The token is never an argument, which every process can read."""

from __future__ import annotations

import os
from pathlib import Path

from evaluator.cli.output import say
from evaluator.cli.server import token_store
from evaluator.cli.server.http import Server
from evaluator.errors import UsageError, shown

VARIABLE = "HOLDOUT_TOKEN"


def connect(address: str | None, token_file: str | None, *, needs_token: bool = True) -> Server:
    """Return a client for the server at `address`, or for that of the last log-in. Raises UsageError.

    needs_token: if False, a command without a token reads public data.
    """
    server_address = address or token_store.read().latest
    if not server_address:
        raise UsageError(
            "no server is given, expected --server https://..., or a log-in: holdout login --server https://..."
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
    """Return the token in a file. Raises UsageError that does not quote the content."""
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not a text file with a token"
        raise UsageError(f"cannot read --token-file {shown(path)}: {why}") from None
