"""Arguments of the commands that run a system or send requests to a server."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from typing import Any

from evaluator.errors import UsageError, shown
from evaluator.reference_systems.files import FILES

RUN = "run a container image as the server would"
RUN_BASELINE = "write the predictions of a baseline or reference system"
SUBMIT = "submit predictions or a container image"
GROUPS = {
    "Get started": ("login", "list-benchmarks", "download-inputs", "list-teams", "logout"),
    "Submit": (
        "validate",
        "submit",
        "list-submissions",
        "show-scores",
        "show-board",
        "take-off-board",
        "put-back",
        "rename-system",
    ),
    "Score at home": ("tasks", "score", "compare", "run-baseline", "run"),
    "Curate": ("split", "audit"),
}
"""Commands in the order of the help, by group."""
CURATION = {
    "split": "make folds, held-out splits and debiased test sets",
    "audit": "check test splits for errors and label leakage",
}
"""Commands with subcommands, which `evaluator.cli.curation` adds."""
TASK = "name of the task; `holdout-eval tasks` lists all"
OPTION = "an option of the task; `holdout-eval tasks` lists all; may be repeated"
PREDICTIONS = "the predictions file: JSON Lines, or .jsonl.gz"
JSON = "print the result as JSON"
SEED = "seed of the random numbers (default: 0)"
_MAX_SEED = 2**63 - 1
BENCHMARK = "the benchmark's name in its address, such as mirror-claims"
PHASE = "the phase's name in its address, such as test"
FORMATS = {
    "json": "JSON",
    "csv": "CSV",
    "markdown": "a Markdown table",
    "latex": "a LaTeX table",
    "bibtex": "a BibTeX entry",
}
SERVER_COMMANDS = frozenset(
    {
        "login",
        "logout",
        "list-benchmarks",
        "list-teams",
        "list-submissions",
        "download-inputs",
        "show-scores",
        "show-board",
        "take-off-board",
        "put-back",
        "rename-system",
    }
)


def read_seed(text: str) -> int:
    """Return the seed in the text that `--seed` was given. Raises UsageError unless it is a whole number in range."""
    return read_whole_number("seed", text, _MAX_SEED)


def read_whole_number(name: str, text: str, most: int) -> int:
    """Parse the value of an option as a whole number from 0 to `most`. Raises UsageError for any other text.

    name: the option's name without hyphens, for the error text.
    """
    if not re.fullmatch(r"[0-9]{1,19}", text) or int(text) > most:
        raise UsageError(f"--{name} is {shown(text)}, expected a whole number from 0 to {most}")
    return int(text)


def read_options(pairs: Sequence[str]) -> dict[str, str]:
    """Return name -> value of a task's or system's options, each given as `--option NAME=VALUE`.

    pairs: the texts NAME=VALUE. Raises UsageError for a text without `=`, and for a name that is given twice.
    """
    options: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--option is {shown(pair)}, expected NAME=VALUE")
        if name in options:
            raise UsageError(f"--option {shown(name)} is given twice, expected once")
        options[name] = value
    return options


def add_run_baseline(commands: Any) -> None:
    parser = commands.add_parser("run-baseline", help=RUN_BASELINE, description=RUN_BASELINE)
    parser.add_argument("task", help=TASK)
    parser.add_argument("name", nargs="?", help="the name; without it, baselines and systems of the task are listed")
    parser.add_argument("--inputs", help="the public inputs, JSON Lines")
    for kind, description in FILES.items():
        parser.add_argument(
            f"--{kind}", action="append", default=[], metavar="FILE", help=f"{description}; may be repeated"
        )
    parser.add_argument(
        "--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the system; may be repeated"
    )
    parser.add_argument("--seed", default="0", help=SEED)


def add_run(commands: Any) -> argparse.ArgumentParser:
    run: argparse.ArgumentParser = commands.add_parser("run", help=RUN, description=RUN)
    run.add_argument("image", help="a tag or id of an image in the local engine, or an archive from docker save")
    run.add_argument("--task", required=True, help=TASK)
    run.add_argument("--inputs", required=True, help="the split's public inputs; .gz is decompressed")
    run.add_argument("--output", help="the file to write (default: predictions.jsonl)")
    run.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help=OPTION)
    run.add_argument("--seconds", help="wall-clock limit (default: 600); the phase's page shows the server's limits")
    run.add_argument("--memory", help="memory limit, including /tmp and /output (default: 4GB)")
    run.add_argument("--cpus", help="number of CPUs (default: 1)")
    run.add_argument("--processes", help="limit of processes and threads (default: 256)")
    run.add_argument(
        "--runtime", default="runc", help="the engine's OCI runtime, such as runc or runsc (default: runc)"
    )
    run.add_argument("--no-check", action="store_true", help="skip the server's checks of the image")
    run.add_argument("--json", action="store_true", help=JSON)
    return run


def add_validate(validate: argparse.ArgumentParser, *, is_for_phase: bool) -> None:
    """Add the arguments of the command `validate` to its parser.

    validate: the parser. is_for_phase: True if the command line names a phase of a server, which has the task and the
    inputs; False if it names the task and a file of inputs.
    """
    validate.usage = (
        "%(prog)s --benchmark BENCHMARK --phase PHASE [--server SERVER] [--json] PREDICTIONS\n"
        "       %(prog)s TASK --inputs INPUTS [--option NAME=VALUE]... [--json] PREDICTIONS"
    )
    if not is_for_phase:
        validate.add_argument("task", metavar="TASK", help=f"{TASK}; not needed with --benchmark")
    validate.add_argument("predictions", metavar="PREDICTIONS", help=PREDICTIONS)
    validate.add_argument("--inputs", required=not is_for_phase, help="the inputs that the predictions are for")
    validate.add_argument(
        "--benchmark", required=is_for_phase, help=f"{BENCHMARK}: download its inputs from the server"
    )
    validate.add_argument("--phase", required=is_for_phase, help=PHASE)
    _add_server(validate)


def add_submit(commands: Any) -> argparse.ArgumentParser:
    submit: argparse.ArgumentParser = commands.add_parser("submit", help=SUBMIT, description=SUBMIT)
    submit.add_argument("predictions", nargs="?", help=PREDICTIONS)
    submit.add_argument(
        "--image", help="a container image: an archive from docker save, or a tag or id of an image in the local engine"
    )
    submit.add_argument("--reference", help="an image in a registry that the server allows: registry/name@sha256:...")
    _add_server(submit)
    submit.add_argument("--benchmark", required=True, help=BENCHMARK)
    submit.add_argument("--phase", required=True, help=PHASE)
    submit.add_argument("--system", required=True, help="the method's name; a new name creates a system")
    submit.add_argument("--team", default="", help="the name of one of your teams (default: your first team)")
    submit.add_argument(
        "--track", default="", help="one of the phase's tracks, if it has tracks; the phase's page lists them"
    )
    submit.add_argument("--note", default="", help="a note for your own list; never published")
    submit.add_argument(
        "--fact",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a fact about the system that the benchmark asks for, such as parameters=7e9; may be repeated",
    )
    submit.add_argument("--resume", metavar="ID", help="continue an interrupted upload of an image, by its printed id")
    submit.add_argument("--wait", action="store_true", help="wait until it is scored, then print score and rank")
    submit.add_argument("--json", action="store_true", help=JSON)
    return submit


def add_server_commands(commands: Any) -> None:
    """Add the commands that send requests to a server, except for `submit`.

    commands: the object that `ArgumentParser.add_subparsers` returned.
    """
    for name, about, add in (
        ("login", "log in to a server", _add_login),
        ("logout", "log out, and revoke the API token", _add_logout),
        ("list-benchmarks", "list the benchmarks of a server", _add_list_benchmarks),
        ("list-teams", "list your teams", _add_list_teams),
        ("list-submissions", "list your submissions with state, score and rank", _add_list_submissions),
        ("download-inputs", "download the inputs of a benchmark", _add_download_inputs),
        ("show-scores", "print score and rank of a submission", _add_show_scores),
        ("show-board", "print a leaderboard", _add_show_board),
        ("take-off-board", "hide a submission of your team from the boards", _add_submission),
        ("put-back", "show a submission again that your team took off the boards", _add_submission),
        ("rename-system", "rename a system of your team; the former name stays public", _add_rename_system),
    ):
        add(commands.add_parser(name, help=about, description=about))


def _add_server(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--server", help="the server's address, such as https://board.example (default: that of your last log-in)"
    )
    command.add_argument(
        "--token-file", help="a file with an API token (default: the variable HOLDOUT_TOKEN, then the stored token)"
    )


def _add_login(login: argparse.ArgumentParser) -> None:
    login.add_argument("--server", required=True, help="the server's address, such as https://board.example")
    login.add_argument(
        "--user", help="log in with this user name or e-mail address and a password (default: in the browser)"
    )
    login.add_argument("--token-file", help="a file with a token from the site, for machines without a browser")


def _add_logout(logout: argparse.ArgumentParser) -> None:
    logout.add_argument("--server", help="the server's address (default: that of your last log-in)")


def _add_list_benchmarks(benchmarks: argparse.ArgumentParser) -> None:
    _add_server(benchmarks)
    benchmarks.add_argument("--search", default="", help="list only benchmarks that contain all of these words")
    benchmarks.add_argument("--task", default="", help="list only benchmarks of this task")
    benchmarks.add_argument("--json", action="store_true", help=JSON)


def _add_list_teams(teams: argparse.ArgumentParser) -> None:
    _add_server(teams)
    teams.add_argument("--json", action="store_true", help=JSON)


def _add_list_submissions(submissions: argparse.ArgumentParser) -> None:
    _add_server(submissions)
    submissions.add_argument("--benchmark", default="", help="only those to this benchmark")
    submissions.add_argument("--phase", default="", help="only those to phases of this name")
    submissions.add_argument("--system", default="", help="only those of this system")
    submissions.add_argument("--state", default="", help="only those in this state, such as done or rejected")
    submissions.add_argument("--search", default="", help="only those whose system, benchmark or note has these words")
    submissions.add_argument("--json", action="store_true", help=JSON)


def _add_download_inputs(inputs: argparse.ArgumentParser) -> None:
    _add_server(inputs)
    inputs.add_argument("--benchmark", required=True, help=BENCHMARK)
    named = inputs.add_mutually_exclusive_group()
    named.add_argument(
        "--phase", help="download the inputs of this phase's split; optional if all phases share a split"
    )
    named.add_argument("--split", help="download the inputs of this split")
    inputs.add_argument("--output", help="the file to write (default: BENCHMARK-SPLIT-inputs.jsonl)")


def _add_show_scores(scores: argparse.ArgumentParser) -> None:
    _add_server(scores)
    scores.add_argument("submission", help="the submission's id")
    scores.add_argument("--wait", action="store_true", help="wait until the submission is finished")
    scores.add_argument("--json", action="store_true", help=JSON)


def _add_submission(command: argparse.ArgumentParser) -> None:
    _add_server(command)
    command.add_argument("submission", help="the submission's id")
    command.add_argument("--json", action="store_true", help=JSON)


def _add_rename_system(command: argparse.ArgumentParser) -> None:
    _add_server(command)
    command.add_argument("system", help="the system's present name")
    command.add_argument("name", help="the new name")
    command.add_argument("--team", default="", help="the name of its team; needed if two teams have such a system")
    command.add_argument("--json", action="store_true", help=JSON)


def _add_show_board(board: argparse.ArgumentParser) -> None:
    _add_server(board)
    board.add_argument("--benchmark", required=True, help=BENCHMARK)
    board.add_argument("--phase", required=True, help=PHASE)
    board.add_argument("--measure", default="", help="comma-separated measures (default: all)")
    board.add_argument(
        "--slices", default="", help="comma-separated dimensions whose slices are shown, or `all` (default: no slices)"
    )
    board.add_argument(
        "--sort", default="", help="the column to sort by, such as f1, best first; --sort=-COLUMN reverses the order"
    )
    board.add_argument("--track", default="", help="show only systems that declare this track")
    board.add_argument(
        "--gold-version", default="", help="the gold version of an earlier board to show; needs --task-version"
    )
    board.add_argument("--task-version", default="", help="the task version of an earlier board to show")
    formats = board.add_mutually_exclusive_group()
    for name, title in FORMATS.items():
        formats.add_argument(f"--{name}", dest="format", action="store_const", const=name, help=f"print {title}")
    formats.add_argument(
        "--top", type=int, metavar="N", help="print the first N rows with one measure, at most 80 columns wide"
    )
