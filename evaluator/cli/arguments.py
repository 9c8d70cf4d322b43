"""Arguments of the commands that run a system or send requests to a server."""

from __future__ import annotations

import argparse
from typing import Any

RUN = "run an image on inputs as the server would, and check what it writes"
SUBMIT = "send predictions or an image to a server"


def add_run(commands: Any) -> argparse.ArgumentParser:
    run: argparse.ArgumentParser = commands.add_parser("run", help=RUN, description=RUN)
    run.add_argument("image", help="a tag or id of this machine's engine, or the file that docker save wrote")
    run.add_argument("--task", required=True)
    run.add_argument("--inputs", required=True, help="the split's public inputs; .gz is unpacked")
    run.add_argument("--output", help="where predictions go; predictions.jsonl unless said")
    run.add_argument("--option", action="append", default=[], metavar="NAME=VALUE")
    run.add_argument("--seconds", help="wall limit, 600 unless said; the phase's page tells what holds there")
    run.add_argument("--memory", help="limit of memory, /tmp and /output included; 4GB unless said")
    run.add_argument("--cpus", help="processors, 1 unless said")
    run.add_argument("--processes", help="processes and threads, 256 unless said")
    run.add_argument("--runtime", default="runc", help="the engine's OCI runtime: runc, runsc; runc unless said")
    run.add_argument("--no-check", action="store_true", help="leave out reading the image as the server reads it")
    run.add_argument("--json", action="store_true")
    return run


def add_submit(commands: Any) -> argparse.ArgumentParser:
    submit: argparse.ArgumentParser = commands.add_parser("submit", help=SUBMIT, description=SUBMIT)
    submit.add_argument("predictions", nargs="?", help="JSON Lines, or .jsonl.gz")
    submit.add_argument("--image", help="the file that docker save wrote, or a tag or id of this machine's engine")
    submit.add_argument("--reference", help="an image of a registry that the server allows: registry/name@sha256:...")
    _add_server(submit)
    submit.add_argument("--benchmark", required=True)
    submit.add_argument("--phase", required=True)
    submit.add_argument("--system", required=True, help="the method's name; it is made if needed")
    submit.add_argument("--team", default="", help="one of yours, by its name; your first unless said")
    submit.add_argument("--track", default="", help="one of the phase's, where it has tracks: its page lists them")
    submit.add_argument("--note", default="", help="for your own list; never published")
    submit.add_argument("--resume", metavar="ID", help="go on with the upload of an image that broke off")
    submit.add_argument("--wait", action="store_true", help="follow the submission to its end, and print its scores")
    submit.add_argument("--json", action="store_true")
    return submit


def add_reading(commands: Any) -> None:
    """Add `login`, `logout`, `benchmarks`, `teams`, `inputs`, `scores` and `board`."""
    for name, about, add in (
        ("login", "keep a token for a server, for the commands that follow", _add_login),
        ("logout", "revoke the token that a log-in has kept", _add_logout),
        ("benchmarks", "list what a server hosts", _add_benchmarks),
        ("teams", "list your teams, for which you may submit", _add_teams),
        ("inputs", "download what systems are given", _add_inputs),
        ("scores", "read the scores of one of your submissions", _add_scores),
        ("board", "read a phase's leaderboard", _add_board),
    ):
        add(commands.add_parser(name, help=about, description=about))


def _add_server(command: argparse.ArgumentParser) -> None:
    command.add_argument("--server", help="its address, https://board.example; the one of your last log-in unless said")
    command.add_argument(
        "--token-file", help="a file with an API token; else the variable HOLDOUT_TOKEN has it, or your log-in"
    )


def _add_login(login: argparse.ArgumentParser) -> None:
    login.add_argument("--server", required=True, help="its address: https://board.example")
    login.add_argument("--user", help="your name or e-mail address there; asked for unless said")
    login.add_argument("--token-file", help="a file with a token from the site, for accounts with a second factor")


def _add_logout(logout: argparse.ArgumentParser) -> None:
    logout.add_argument("--server", help="its address; the one of your last log-in unless said")


def _add_benchmarks(benchmarks: argparse.ArgumentParser) -> None:
    _add_server(benchmarks)
    benchmarks.add_argument("--search", default="", help="words that all occur")
    benchmarks.add_argument("--task", default="")
    benchmarks.add_argument("--json", action="store_true")


def _add_teams(teams: argparse.ArgumentParser) -> None:
    _add_server(teams)
    teams.add_argument("--json", action="store_true")


def _add_inputs(inputs: argparse.ArgumentParser) -> None:
    _add_server(inputs)
    inputs.add_argument("--benchmark", required=True)
    named = inputs.add_mutually_exclusive_group()
    named.add_argument("--phase", help="whose split it is; may be left out where all phases have one")
    named.add_argument("--split")
    inputs.add_argument("--output", help="BENCHMARK-SPLIT-inputs.jsonl unless said")


def _add_scores(scores: argparse.ArgumentParser) -> None:
    _add_server(scores)
    scores.add_argument("submission", help="its id")
    scores.add_argument("--wait", action="store_true", help="follow the submission to its end")
    scores.add_argument("--json", action="store_true")


def _add_board(board: argparse.ArgumentParser) -> None:
    _add_server(board)
    board.add_argument("--benchmark", required=True)
    board.add_argument("--phase", required=True)
    board.add_argument("--measure", default="", help="measures, with commas; all unless said")
    board.add_argument("--slices", default="", help="dimensions, with commas, or `all`; the whole alone unless said")
    board.add_argument("--sort", default="", help="a column, best first; --sort=-COLUMN turns it round")
    board.add_argument("--track", default="", help="the systems alone that declare this track")
    board.add_argument("--gold-version", default="", help="with --task-version: a board that was shown before")
    board.add_argument("--task-version", default="")
    formats = board.add_mutually_exclusive_group()
    for name in ("json", "csv", "markdown", "latex", "bibtex"):
        formats.add_argument(f"--{name}", dest="format", action="store_const", const=name)
