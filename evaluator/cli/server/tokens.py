"""The server to which a command sends its requests: its address and the API token."""

from __future__ import annotations

from evaluator.cli.output import say
from evaluator.client.api import Api
from evaluator.client.tokens import OPEN_CONNECTION, VARIABLE, find_address, find_token
from evaluator.errors import UsageError


def connect(address: str | None, token_file: str | None, *, needs_token: bool = True) -> Api:
    """Return a client for the server at `address`; if that is None, for the server of the last log-in.

    token_file: the path of a file with the API token; None: the token is that of the variable HOLDOUT_TOKEN, else the
    stored one. needs_token: False for commands that read public data, and so need no token. Raises UsageError if there
    is no address, or a token is needed and there is none.
    """
    server_address = find_address(address)
    token = find_token(server_address, token_file)
    if token is None and needs_token:
        raise UsageError(f"there is no token: run holdout-eval login, set {VARIABLE}, or give --token-file FILE")
    server = Api(server_address, token)
    if server.is_open and token is not None:
        say(f"warning: {OPEN_CONNECTION}")
    return server
