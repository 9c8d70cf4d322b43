"""`holdout-eval run-baseline TASK NAME`: write the predictions of a trivial baseline or a reference system.

The predictions are written to standard output. A trivial baseline is computed by the job that the server runs too. A
reference system exists only on the command line.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path

import msgspec

from evaluator import jobs
from evaluator.cli import arguments
from evaluator.cli.output import print_problems
from evaluator.cli.progress_line import progress_reported
from evaluator.errors import FileError, UsageError, shown
from evaluator.exit_codes import BAD_GOLD, DONE, WRONG_USAGE
from evaluator.jobs.baseline import BaselineRequest
from evaluator.reference_systems.base import System
from evaluator.reference_systems.files import FILES, INPUTS
from evaluator.reference_systems.registry import systems_of
from evaluator.tasks.base import AnyTask
from evaluator.tasks.registry import find_task

_LINES_PER_WRITE = 1000
_NEEDED = {"scipy": "SciPy", "sklearn": "scikit-learn"}
"""Modules of the extra `baselines`, which some systems need, and their names for messages."""


def run(args: argparse.Namespace) -> int:
    """Run the command `run-baseline` and return its exit status.

    Raises UsageError for an unknown task, name or option, and for a file that is missing or cannot be read.
    """
    task = find_task(args.task)
    systems = systems_of(args.task)
    if args.name is None:
        _list(task, systems)
        return DONE
    trivial = [baseline.name for baseline in task.baselines]
    if args.name not in trivial and args.name not in systems:
        names = ", ".join(dict.fromkeys([*trivial, *systems]))
        raise UsageError(f"unknown baseline {shown(args.name)} of {task.name}, expected one of: {names}")
    if not args.inputs:
        raise UsageError("--inputs is missing, expected --inputs FILE with the public inputs")
    options, seed = arguments.read_options(args.option), arguments.read_seed(args.seed)
    # Of a baseline and a system with one name, the system runs if its files are given.
    others = [kind for kind in FILES if kind != "train" and getattr(args, kind)]
    if (system := systems.get(args.name)) is not None:
        has_files = all(getattr(args, kind) for kind in system.needs)
        if has_files or others or args.name not in trivial:
            return _run_system(system, args, options, seed)
    if others:
        raise UsageError(f"{args.name} does not use --{others[0]}, found {shown(getattr(args, others[0])[0])}")
    return _run_baseline(task, args, system)


def _list(task: AnyTask, systems: Mapping[str, System]) -> None:
    for baseline in task.baselines:
        if baseline.name in systems and systems[baseline.name].needs == ("train",):
            continue  # with the files that the baseline needs, the system runs
        print(f"{baseline.name}: {baseline.doc}" + (f" (needs {baseline.needs})" if baseline.needs else ""))
    for system in systems.values():
        files = [f"--{kind}" for kind in system.needs] + [f"[--{kind}]" for kind in system.uses]
        print(f"{' '.join([system.name, *files])}: {system.doc}. {system.source}")
        for option in system.options:
            print(f"  --option {option.name}=...: {option.doc} Default: {option.default or 'none'}.")


def _run_system(system: System, args: argparse.Namespace, options: Mapping[str, str], seed: int) -> int:
    files = {kind: [Path(path) for path in getattr(args, kind)] for kind in FILES}
    job = system.job(args.task, {INPUTS: [Path(args.inputs)], **files}, options, seed)
    encoder = msgspec.json.Encoder()
    try:
        with progress_reported(system.name):
            lines = iter(system.predict(job))
            for first in lines:
                block = encoder.encode_lines(chain([first], islice(lines, _LINES_PER_WRITE - 1)))
                sys.stdout.buffer.write(block)
    except FileError as error:
        print_problems([problem.as_dict() for problem in error.problems], error.more)
        return BAD_GOLD
    except ModuleNotFoundError as error:
        package = _NEEDED.get((error.name or "").partition(".")[0])
        if package is None:
            raise
        raise UsageError(
            f"{system.name} needs the Python package {package}: "
            "pip install 'holdout-eval[baselines]', or, from the project's folder, pip install '.[baselines]'"
        ) from None
    return DONE


def _run_baseline(task: AnyTask, args: argparse.Namespace, system: System | None) -> int:
    """Run a trivial baseline of the task, print its predictions and return the exit status.

    system: the reference system with the same name as the baseline, which is suggested if the baseline lacks data; None
    if there is none. Raises UsageError for invalid arguments and unreadable files.
    """
    request = BaselineRequest(
        task=args.task,
        baseline=args.name,
        options=arguments.read_options(args.option),
        inputs_name=args.inputs,
        train_names=args.train,
        seed=arguments.read_seed(args.seed),
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
        needed = " and ".join(f"--{kind}" for kind in system.needs) if system else ""
        other = f"; with {needed}, the reference system of this name runs" if needed else ""
        print(f"{args.name} has no predictions for this data: it needs {needs} (--train){other}", file=sys.stderr)
        return WRONG_USAGE
    sys.stdout.buffer.write(body)
    return DONE
