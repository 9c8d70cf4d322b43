"""`holdout-eval split NAME ...` and `audit NAME ...`: one module per subcommand, all listed here.

These modules handle arguments and files, and call functions of `evaluator.curation`. The command imports all of them at
its start, so each imports slow dependencies (SciPy, pyarrow) only inside the functions that use them.
"""

from __future__ import annotations

import argparse
import json
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evaluator.cli import arguments
from evaluator.cli.output import print_problems, printable_lines, say
from evaluator.cli.progress_line import progress_reported
from evaluator.curation.generators import (
    adjudicate,
    audit,
    corruption,
    cues_report,
    disclosure,
    distant_supervision,
    folds,
    gold_diff,
    graph_report,
    holdout,
    metric,
    misses,
    open_evaluation,
    open_questions,
    public_private,
    published_symmetric,
    remove_leakage,
    reweight,
    scenarios,
    symmetric,
)
from evaluator.curation.generators.arguments import whole_number
from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.recipe import recipe
from evaluator.curation.generators.workspace import Workspace
from evaluator.errors import FileError, PredictionError, SandboxError, UsageError
from evaluator.exit_codes import BAD_GOLD, BAD_PREDICTIONS
from evaluator.jsonl.tables import FORMATS

SPLITS: tuple[Generator, ...] = (
    folds.GENERATOR,
    holdout.GENERATOR,
    public_private.GENERATOR,
    symmetric.GENERATOR,
    published_symmetric.GENERATOR,
    adjudicate.GENERATOR,
    reweight.GENERATOR,
    remove_leakage.GENERATOR,
    open_evaluation.GENERATOR,
    open_questions.GENERATOR,
    scenarios.GENERATOR,
    corruption.GENERATOR,
    distant_supervision.GENERATOR,
)
"""Generators: each writes a folder of files and their recipe."""

AUDITS: tuple[Generator, ...] = (
    audit.AUDIT,
    disclosure.AUDIT,
    symmetric.AUDIT,
    cues_report.GENERATOR,
    remove_leakage.AUDIT,
    gold_diff.AUDIT,
    graph_report.AUDIT,
    metric.AUDIT,
    misses.SAMPLE,
    misses.TABLE,
)
"""Audits: each reports errors or label leakage in a split. A folder is written only on request."""

_NEEDED = {"scipy": "scipy", "sklearn": "scikit-learn", "pyarrow": "pyarrow", "xlsxwriter": "xlsxwriter"}


def _generators(command: str) -> tuple[Generator, ...]:
    return {"split": SPLITS, "audit": AUDITS}[command]


def add_to(parser: argparse.ArgumentParser, command: str) -> None:
    """Add the subcommands of `split` or `audit`, which `command` names, to the command's parser."""
    names = parser.add_subparsers(
        dest="generator", required=True, metavar="NAME", help="what to do:", parser_class=type(parser)
    )
    for generator in _generators(command):
        subcommand = names.add_parser(generator.name, help=generator.summary, description=generator.summary)
        generator.add_to(subcommand)
        if generator.seeded:
            subcommand.add_argument(
                "--seed", type=whole_number, default=0, help="the same seed gives the same bytes (default: 0)"
            )
        subcommand.add_argument(
            "--output",
            type=Path,
            required=command == "split",
            help="the folder to create, with the files and recipe.json",
        )
        subcommand.add_argument("--json", action="store_true", help=arguments.JSON)
        if command == "split":
            subcommand.add_argument(
                "--table", choices=FORMATS, help="write each JSON Lines file also as a table of this format"
            )


def run(args: argparse.Namespace) -> int:
    """Run one subcommand and return its exit status.

    Raises UsageError for invalid arguments or a missing Python package, and SandboxError where reading or writing
    fails, such as on a full disk.
    """
    (generator,) = (candidate for candidate in _generators(args.command) if candidate.name == args.generator)
    try:
        with _terminated_like_interrupted(), progress_reported(generator.name), Workspace(args.output) as bench:
            result = generator.make(args, bench)
            if args.command == "split" and args.table:
                bench.add_tables(args.table)
            bench.finish(recipe(generator, args, result, bench))
    except FileError as error:
        return _refused(error, args.json)
    except OSError as error:  # such as a full disk or a deleted file
        raise SandboxError(f"{generator.name} cannot continue: {error.strerror or type(error).__name__}") from None
    except ModuleNotFoundError as error:
        if error.name not in _NEEDED:
            raise
        raise UsageError(
            f"{generator.name} needs the Python package {_NEEDED[error.name]}: "
            "pip install 'holdout-eval[curation]', or, from the project's folder, pip install '.[curation]'"
        ) from None
    _print_result(result, args)
    return result.status


def _print_result(result: GeneratorResult, args: argparse.Namespace) -> None:
    if args.json:
        print(json.dumps(result.report, ensure_ascii=True, allow_nan=False))
        return
    print(printable_lines(result.text))
    if args.output is not None:
        say(f"written to {args.output}")


def _refused(error: FileError, as_json: bool) -> int:
    theirs = isinstance(error, PredictionError)
    problems = [problem.as_dict() for problem in error.problems]
    print_problems(problems, error.more)
    if as_json:
        fault = "predictions" if theirs else "gold"
        print(json.dumps({"ok": False, "fault": fault, "problems": problems, "more": error.more}))
    return BAD_PREDICTIONS if theirs else BAD_GOLD


@contextmanager
def _terminated_like_interrupted() -> Iterator[None]:
    """Treat SIGTERM, as from a service manager, like Ctrl-C, so that no partial output is left behind."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
