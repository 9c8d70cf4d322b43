"""Dispatch of the commands that send requests to a server."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from evaluator.cli.server import login, read, take_back
from evaluator.cli.server.errors import refused
from evaluator.client.http import RefusedError

_HANDLERS: dict[str, Callable[[argparse.Namespace], int]] = {
    "login": login.login,
    "logout": login.logout,
    "list-benchmarks": read.benchmarks,
    "list-teams": read.teams,
    "list-submissions": read.submissions,
    "download-inputs": read.inputs,
    "show-scores": read.scores,
    "show-board": read.board,
    "take-off-board": take_back.take_off_board,
    "put-back": take_back.put_back,
    "rename-system": take_back.rename_system,
}


def run(args: argparse.Namespace) -> int:
    """Run the command that `args` names and return its exit status.

    Raises UsageError for invalid arguments, and SandboxError if the server does not respond.
    """
    try:
        return _HANDLERS[args.command](args)
    except RefusedError as error:
        as_json = getattr(args, "json", False) or getattr(args, "format", "") == "json"
        return refused(error, as_json=as_json)
