"""Commands that change what boards show of the user's teams: `take-off-board`, `put-back` and `rename-system`."""

from __future__ import annotations

import argparse
import json
from typing import Any

from evaluator.cli.output import say
from evaluator.cli.server.tokens import connect
from evaluator.client.reading import read_list, submission_path
from evaluator.errors import UsageError, printable, shown
from evaluator.exit_codes import DONE


def take_off_board(args: argparse.Namespace) -> int:
    """Hide a submission from all boards of its phase, and return the exit status."""
    return _set_hidden(args, "POST", "it is off the board; `holdout-eval put-back` shows it again")


def put_back(args: argparse.Namespace) -> int:
    """Show a submission again that the team has hidden with `take-off-board`, and return the exit status."""
    return _set_hidden(args, "DELETE", "your team does not hide it")


def _set_hidden(args: argparse.Namespace, verb: str, message: str) -> int:
    submission = connect(args.server, args.token_file).request(verb, f"{submission_path(args.submission)}/hidden/")
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
    system = _find(read_list(server, "systems/"), args.system, args.team)
    renamed = server.post(f"systems/{system['id']}/name/", {"name": args.name})
    say(f"{printable(system['name'])} of {printable(system['team'])} is now called {printable(renamed['name'])}")
    if args.json:
        print(json.dumps(renamed))
    return DONE


def _find(systems: list[dict[str, Any]], name: str, team: str) -> dict[str, Any]:
    """Return the system with this name, ignoring case.

    systems: in the form of the API. team: the name of the system's team; empty: any team. Raises UsageError unless
    exactly one system matches.
    """
    found = [
        row
        for row in systems
        if row["name"].casefold() == name.casefold() and team.casefold() in ("", row["team"].casefold())
    ]
    if len(found) != 1:
        teams = ", ".join(printable(row["team"]) for row in found)
        expected = f"--team, one of: {teams}" if found else "the name of a system of your teams"
        raise UsageError(f"system is {shown(name)}, expected {expected}")
    return found[0]
