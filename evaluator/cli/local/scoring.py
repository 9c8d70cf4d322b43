"""`holdout-eval tasks`, `validate`, `score` and `compare`: the evaluator's jobs on local files."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from evaluator import jobs
from evaluator.cli import arguments
from evaluator.cli.output import print_problems
from evaluator.cli.progress_line import progress_reported
from evaluator.cli.tables import comparison_table, score_table
from evaluator.errors import UsageError, printable, shown
from evaluator.exit_codes import BAD_GOLD, BAD_PREDICTIONS, DONE, WRONG_USAGE
from evaluator.jobs.compare import CompareRequest
from evaluator.jobs.score import ScoreRequest, ValidateRequest
from evaluator.tasks.registry import TASKS, find_task
from evaluator.text import count_noun

_EXIT = {"predictions": BAD_PREDICTIONS, "gold": BAD_GOLD, "inputs": BAD_GOLD, "usage": WRONG_USAGE}
_MAX_RESAMPLES = 100_000


def list_tasks(args: argparse.Namespace) -> int:
    """Print the tasks and return the exit status.

    Tasks of installed packages that cannot be used are listed on standard error, with the reasons.
    """
    for problem in TASKS.problems:
        print(f"holdout-eval: {printable(str(problem))}", file=sys.stderr)
    if args.json:
        print(json.dumps([_described(name) for name in TASKS]))
        return DONE
    for task in TASKS.values():
        print(f"{task.name} (version {task.version}): {task.summary}")
        print(f"  measures: {', '.join(measure.name for measure in task.measures)}; primary: {task.primary()}")
        for option in task.options:
            print(f"  --option {option.name}=...: {option.doc} Default: {option.default or 'none'}.")
    return DONE


def _described(name: str) -> dict[str, Any]:
    task = find_task(name)
    return {
        "task": task.name,
        "task_version": task.version,
        "title": task.title,
        "summary": task.summary,
        "primary": task.primary(),
        "measures": [measure.name for measure in task.measures],
        "options": {option.name: option.default for option in task.options},
    }


def _request(args: argparse.Namespace) -> tuple[jobs.Request, list[str]]:
    """Return (the job request for a command, the names of its arguments that are paths of input files)."""
    options = arguments.read_options(args.option)
    find_task(args.task).parse_options(options)
    if args.command == "validate":
        validation = ValidateRequest(
            task=args.task, options=options, inputs_name=args.inputs, predictions_name=args.predictions
        )
        return validation, ["predictions", "inputs"]
    resamples = jobs.RESAMPLES
    if args.resamples is not None:
        resamples = arguments.read_whole_number("resamples", args.resamples, _MAX_RESAMPLES)
    seed = arguments.read_seed(args.seed)
    if args.command == "score":
        scoring = ScoreRequest(
            task=args.task,
            options=options,
            gold_name=args.gold,
            predictions_name=args.predictions,
            resamples=resamples,
            seed=seed,
        )
        return scoring, ["predictions", "gold"]
    comparison = CompareRequest(
        task=args.task,
        options=options,
        gold_name=args.gold,
        predictions_a_name=args.predictions_a,
        predictions_b_name=args.predictions_b,
        resamples=resamples,
        seed=seed,
    )
    return comparison, ["predictions_a", "predictions_b", "gold"]


def run(args: argparse.Namespace) -> int:
    """Run `validate`, `score` or `compare`, and return the exit status.

    Raises UsageError for an unknown task or option and for unreadable files.
    """
    request, names = _request(args)
    with ExitStack() as stack:
        files = {}
        for name in names:
            path = getattr(args, name)
            try:
                files[name] = stack.enter_context(Path(path).open("rb"))
            except OSError as error:
                raise UsageError(f"cannot read {shown(path)}: {error.strerror}") from None
        with progress_reported("comparing"):  # the other jobs report no progress
            report, _ = jobs.run(request, files)
    if not report["ok"]:
        return _refused(report, args.json)
    _print_report(args, report)
    return DONE


def _refused(report: dict[str, Any], as_json: bool) -> int:
    if report["fault"] == "usage":
        raise UsageError(report["problems"][0]["text"])
    print_problems(report["problems"], report["more"])
    if as_json:
        print(json.dumps(report))
    return _EXIT[report["fault"]]


def _print_report(args: argparse.Namespace, report: dict[str, Any]) -> None:
    if args.command == "validate":
        if args.json:
            print(json.dumps(report))
        else:
            _print_warnings(report["warnings"])
            print(f"{printable(args.predictions)}: {count_noun(report['n_lines'], 'line')}, no problems")
        return
    result = report["result"]
    result["warnings"] = [*report["gold_warnings"], *result["warnings"], *report.get("hints", [])]
    if args.json:
        print(json.dumps(result, allow_nan=False))
        return
    _print_warnings(result["warnings"])
    print(
        f"{result['task']} version {result['task_version']}: "
        f"{count_noun(result['n_units'], 'unit')}, {count_noun(result['n_groups'], 'group')}"
    )
    print(score_table(result["scores"]) if args.command == "score" else comparison_table(result["comparisons"]))


def _print_warnings(warnings: Sequence[str]) -> None:
    for warning in warnings:
        print(f"warning: {printable(warning)}", file=sys.stderr)
