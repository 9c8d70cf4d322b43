"""Commands that change what boards show of the user's teams: `take-off-board`, `put-back` and `rename-system`."""

from __future__ import annotations

import argparse
import json

from evaluator.cli.output import say
from evaluator.cli.server.tokens import connect
from evaluator.errors import printable
from evaluator.exit_codes import DONE


def take_off_board(args: argparse.Namespace) -> int:
    """Hide a submission from all boards of its phase, and return the exit status."""
    return _set_hidden(args, "it is off the board; `holdout-eval put-back` shows it again", hidden=True)


def put_back(args: argparse.Namespace) -> int:
    """Show a submission again that the team has hidden with `take-off-board`, and return the exit status."""
    return _set_hidden(args, "your team does not hide it", hidden=False)


def _set_hidden(args: argparse.Namespace, message: str, *, hidden: bool) -> int:
    submission = connect(args.server, args.token_file).set_hidden(args.submission, hidden=hidden)
    hidden_by = submission["hidden_by"]
    say("the organisers hide it from the board" if hidden_by == "organisers" else message)
    if args.json:
        print(json.dumps(submission))
    return DONE


def rename_system(args: argparse.Namespace) -> int:
    """Rename the system that the arguments name, and return the exit status.

    Raises UsageError unless exactly one system of the user's teams has this name.
    """
    server = connect(args.server, args.token_file)
    system = server.own_system(args.system, args.team)
    renamed = server.rename_system(system, args.name)
    say(f"{printable(system['name'])} of {printable(system['team'])} is now called {printable(renamed['name'])}")
    if args.json:
        print(json.dumps(renamed))
    return DONE
