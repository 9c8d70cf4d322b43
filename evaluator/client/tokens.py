"""Lookup of a server and its API token.

The token is never a command-line argument, because every process of the machine can read those.
"""

from __future__ import annotations

import os
from pathlib import Path

from evaluator.client import token_store
from evaluator.errors import UsageError, shown

VARIABLE = "HOLDOUT_TOKEN"
OPEN_CONNECTION = "the address is plain http, so others on the network can read the token"


def find_address(address: str | None) -> str:
    """Return `address`, or that of the last log-in if it is None or empty. Raises UsageError if there is none."""
    server_address = address or token_store.read().latest
    if not server_address:
        raise UsageError(
            "no server is given; expected --server https://..., or an earlier log-in: holdout-eval login --server "
            "https://..."
        )
    return server_address


def find_token(address: str, file: str | None = None) -> str | None:
    """Return the token in `file`, else that of HOLDOUT_TOKEN, else the stored one of the server; None if there is none.

    address: the server's address. file: the path of a file with a token; None: no file.
    """
    if file is not None:
        return from_file(file)
    return os.environ.get(VARIABLE, "").strip() or token_store.read().tokens.get(address.rstrip("/"))


def from_file(path: str) -> str:
    """Return the API token in a file.

    Raises UsageError if the file cannot be read; the message does not quote the file's content.
    """
    try:
        return Path(path).read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not a text file with a token"
        raise UsageError(f"cannot read --token-file {shown(path)}: {why}") from None
