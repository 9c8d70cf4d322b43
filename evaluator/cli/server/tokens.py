"""Where a command finds its server and its API token. Never in an argument, which every process can read."""

from __future__ import annotations

import os
from pathlib import Path

from evaluator.cli.output import say
from evaluator.cli.server import token_store
from evaluator.cli.server.http import Server
from evaluator.errors import UsageError, shown

VARIABLE = "HOLDOUT_TOKEN"


def connected(address: str | None, token_file: str | None, *, needs_token: bool = True) -> Server:
    """The server of that address, or the one of the last log-in. Raises UsageError.

    needs_token: else whoever has no token reads what is public.
    """
    where = address or token_store.read().latest
    if not where:
        raise UsageError("there is no server: give --server https://..., or log in: holdout login --server https://...")
    found = _found(where, token_file)
    if found is None and needs_token:
        raise UsageError(f"there is no token: holdout login, set {VARIABLE}, or give --token-file FILE")
    server = Server(where, found)
    if server.is_open and found is not None:
        say("warning: the address is plain http, so whoever is on the way can read the token")
    return server


def _found(server: str, file: str | None) -> str | None:
    """A named file before the environment before what a log-in has kept."""
    if file is not None:
        return from_file(file)
    return os.environ.get(VARIABLE, "").strip() or token_store.read().tokens.get(server.rstrip("/"))


def from_file(path: str) -> str:
    """Raises UsageError that quotes nothing of it."""
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text of a token"
        raise UsageError(f"cannot read --token-file {shown(path)}: {why}") from None
