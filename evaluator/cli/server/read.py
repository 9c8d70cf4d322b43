"""Commands that read data from a server.

`list-benchmarks`, `list-teams`, `list-submissions`, `download-inputs`, `show-scores` and `show-board`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from evaluator.cli.output import say
from evaluator.cli.server import submit
from evaluator.cli.server.tokens import connect
from evaluator.cli.tables import benchmark_table, board_table, submission_table, team_table, top_table
from evaluator.client.api import Api, find_phase
from evaluator.errors import UsageError, shown
from evaluator.exit_codes import DONE, NOT_YET

_FORMATS = {"csv": "csv", "markdown": "md", "latex": "tex", "bibtex": "bib"}
"""File name extensions of the formats that the server renders, by command-line option."""


def benchmarks(args: argparse.Namespace) -> int:
    server = connect(args.server, args.token_file, needs_token=False)
    rows = server.benchmarks(search=args.search, task=args.task)
    print(json.dumps(rows) if args.json else benchmark_table(rows))
    return DONE


def teams(args: argparse.Namespace) -> int:
    """Print the user's teams, which `submit --team` accepts, and return the exit status."""
    rows = connect(args.server, args.token_file).teams()
    if not rows:
        say("you are in no team; your first submission creates one with your name")
    print(json.dumps(rows) if args.json else team_table(rows))
    return DONE


def submissions(args: argparse.Namespace) -> int:
    """Print the submissions of the user's teams that match the arguments, the latest first; return the exit status."""
    names = ("benchmark", "phase", "system", "state", "search")
    server = connect(args.server, args.token_file)
    rows = server.submissions(**{name: getattr(args, name) for name in names})
    print(json.dumps(rows) if args.json else submission_table(rows))
    return DONE


def inputs(args: argparse.Namespace) -> int:
    """Download a split's public inputs, check their SHA-256, then create the output file. Return the exit status."""
    server = connect(args.server, args.token_file, needs_token=False)
    split = args.split or _split_of(server, args.benchmark, args.phase)
    output = Path(args.output or f"{Path(args.benchmark).name}-{Path(split).name}-inputs.jsonl")
    if args.output is None and output.exists():
        raise UsageError(f"{shown(str(output))} already exists, expected --output FILE to choose or overwrite a file")
    try:
        descriptor, name = tempfile.mkstemp(dir=output.parent)
        try:
            with os.fdopen(descriptor, "w+b") as file:
                sha256 = server.download_inputs(args.benchmark, split, file)
            Path(name).chmod(0o644)
            Path(name).replace(output)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise UsageError(f"cannot write {shown(str(output))}: {error.strerror}") from None
    say(f"{output}: sha256 {sha256}")
    return DONE


def _split_of(server: Api, benchmark: str, phase: str | None) -> str:
    response = server.benchmark(benchmark)
    splits = {str(row["split"]) for row in response["phases"]}
    if phase is None and len(splits) == 1:
        return splits.pop()
    return str(find_phase(response, phase)["split"])


def scores(args: argparse.Namespace) -> int:
    """Print the scores of a submission and return the exit status.

    It is NOT_YET if the submission is not finished and `--wait` is not given, otherwise the same as from `submit
    --wait`.
    """
    server = connect(args.server, args.token_file)
    submission = server.submission(args.submission)
    if not submission["is_over"] and not args.wait:
        say(f"{submission['state']}: there are no scores yet; use --wait to wait for them")
        return NOT_YET
    return submit.print_outcome(server, submission, wait=True, as_json=args.json)


def board(args: argparse.Namespace) -> int:
    server = connect(args.server, args.token_file, needs_token=False)
    names = ["gold_version", "task_version"]
    if args.format != "bibtex":
        names += ["measure", "slices", "sort", "track"]
    query = {name: str(value) for name in names if (value := getattr(args, name))}
    if args.format in _FORMATS:
        sys.stdout.flush()
        extension = _FORMATS[args.format]
        server.export_board(args.benchmark, args.phase, sys.stdout.buffer, extension=extension, **query)
        sys.stdout.buffer.flush()
        return DONE
    if args.top is not None and args.top < 1:
        raise UsageError(f"--top is {args.top}, expected a number of rows from 1")
    leaderboard = server.board(args.benchmark, args.phase, top=args.top, **query)
    if args.top is not None:
        print(top_table(leaderboard))
    else:
        print(json.dumps(leaderboard) if args.format == "json" else board_table(leaderboard))
    return DONE
