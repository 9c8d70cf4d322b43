"""`holdout run-baseline TASK NAME`: write a baseline's predictions to standard output.

The code and the predictions are the same as on a server.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from evaluator import jobs
from evaluator.cli import arguments
from evaluator.cli.output import print_problems
from evaluator.errors import UsageError, shown
from evaluator.exit_codes import BAD_GOLD, DONE, WRONG_USAGE
from evaluator.jobs.baseline import BaselineRequest
from evaluator.tasks.registry import find_task

SUMMARY = "write the predictions of a trivial baseline"


def add_to(commands: Any) -> None:
    parser = commands.add_parser("run-baseline", help=SUMMARY, description=SUMMARY)
    parser.add_argument("task", help=arguments.TASK)
    parser.add_argument("name", nargs="?", help="the baseline's name; without it, the task's baselines are listed")
    parser.add_argument("--inputs", help="the public inputs, JSON Lines")
    parser.add_argument("--train", action="append", default=[], metavar="GOLD", help="public gold; may be repeated")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help=arguments.OPTION)
    parser.add_argument("--seed", default=str(jobs.SEED), help=arguments.SEED)


def run(args: argparse.Namespace, options: Mapping[str, str], seed: int) -> int:
    """Run the command and return its exit status.

    Raises UsageError for an unknown task, baseline or option, and for a file that is missing or cannot be read.
    """
    task = find_task(args.task)
    if args.name is None:
        for baseline in task.baselines:
            print(f"{baseline.name}: {baseline.doc}" + (f" (needs {baseline.needs})" if baseline.needs else ""))
        return DONE
    if not args.inputs:
        raise UsageError("--inputs is missing, expected --inputs FILE with the public inputs")
    request = BaselineRequest(
        task=args.task,
        baseline=args.name,
        options=dict(options),
        inputs_name=args.inputs,
        train_names=args.train,
        seed=seed,
    )
    with ExitStack() as stack:
        files = {}
        for key, path in {"inputs": args.inputs, **{str(n): path for n, path in enumerate(args.train)}}.items():
            try:
                files[key] = stack.enter_context(Path(path).open("rb"))
            except OSError as error:
                raise UsageError(f"cannot read {shown(path)}: {error.strerror}") from None
        report, body = jobs.run(request, files)
    if not report["ok"]:
        if report["fault"] == "usage":
            raise UsageError(report["problems"][0]["text"])
        print_problems(report["problems"], report["more"])
        return BAD_GOLD
    if not report["says"]:
        needs = task.baseline(args.name).needs
        print(f"{args.name} has no predictions for this data: it needs {needs}", file=sys.stderr)
        return WRONG_USAGE
    sys.stdout.buffer.write(body)
    return DONE
