"""The command `holdout`: score and submit predictions.

Exit status: 0 success; 1 an audit found errors that block publishing; 2 the predictions (or the image) are invalid; 3
the gold (or the inputs) is invalid; 4 internal error, or the Docker engine or the server is unavailable; 64 usage
error; 75 a submission is not finished yet; 130 interrupted.
"""

import argparse
import json
import os
import re
import sys
import traceback
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NoReturn

try:  # imports take a moment; an interrupt meanwhile should print no traceback
    import evaluator.blas  # noqa: F401  - before the first import of NumPy
    from evaluator import __version__, jobs
    from evaluator.cli import arguments, baseline, curation, deprecated_names
    from evaluator.cli.output import print_problems, printable_lines
    from evaluator.cli.progress_line import progress_reported
    from evaluator.cli.tables import comparison_table, score_table
    from evaluator.errors import SandboxError, UsageError, printable, shown
    from evaluator.exit_codes import BAD_GOLD, BAD_PREDICTIONS, DONE, INTERNAL_ERROR, INTERRUPTED, WRONG_USAGE
    from evaluator.jobs.compare import CompareRequest
    from evaluator.jobs.score import ScoreRequest, ValidateRequest
    from evaluator.tasks.registry import TASKS, find_task
    from evaluator.text import count_noun
except KeyboardInterrupt:
    sys.exit(130)

PROGRAM = "holdout"
DESCRIPTION = "Score and submit predictions. Uses the same scoring code as the server."
EXIT_STATUSES = """Exit status:
  0    success
  1    an audit found errors that block publishing
  2    the predictions or the image are invalid
  3    the gold or the inputs are invalid
  4    internal error, or the server or the container engine is unavailable
  64   wrong usage
  75   the submission is not finished yet
  130  interrupted"""
_EXIT = {"predictions": BAD_PREDICTIONS, "gold": BAD_GOLD, "inputs": BAD_GOLD, "usage": WRONG_USAGE}
_MAX_RESAMPLES = 100_000
_MAX_SEED = 10**18 - 1


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}\n{self.format_usage().strip()}")


def main(words: Sequence[str]) -> int:
    """Run one command and return its exit status."""
    try:
        current = deprecated_names.replace(words)
        args = _parser(current).parse_args(current)
        status = _command(args)
        sys.stdout.flush()  # flushed here, where BrokenPipeError is still handled
        return status
    except UsageError as error:
        print(f"{PROGRAM}: {printable_lines(str(error))}", file=sys.stderr)
        return WRONG_USAGE
    except SandboxError as error:
        print(f"{PROGRAM}: {printable_lines(str(error))}", file=sys.stderr)
        return INTERNAL_ERROR
    except KeyboardInterrupt:
        print(f"{PROGRAM}: interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        # The reader closed the pipe; Python's own flush at exit must not fail either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:  # noqa: BLE001 - any other exception is an internal error
        # The message of an unexpected error may quote gold, so only its type and location are printed.
        frame = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(frame.filename).name}:{frame.lineno}"
        name = type(error).__name__
        print(f"{PROGRAM}: internal error ({name} at {where}). Please report it.", file=sys.stderr)
        return INTERNAL_ERROR


def _parser(words: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Return the parser of all commands. words: the command line, which decides what `validate` takes."""
    parser = _Parser(
        prog=PROGRAM,
        usage=f"{PROGRAM} COMMAND ...   (`{PROGRAM} --help` lists the commands)",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description=DESCRIPTION,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}", help="print the version")
    commands = parser.add_subparsers(
        dest="command", prog=PROGRAM, required=True, metavar="COMMAND", help=argparse.SUPPRESS, parser_class=_Parser
    )
    _add_commands(commands, words)
    parser.epilog = _overview(commands)
    return parser


def _overview(commands: Any) -> str:
    """Return the list of all commands in groups, for the help."""
    summaries = {action.dest: action.help for action in commands._choices_actions}
    lines = []
    for group, names in arguments.GROUPS.items():
        lines += [f"{group}:", *(f"  {name:18}{summaries[name]}" for name in names if name in summaries), ""]
    return "\n".join([*lines, EXIT_STATUSES, "", f"Run `{PROGRAM} COMMAND --help` for the arguments of a command."])


def _add_commands(commands: Any, words: Sequence[str]) -> None:
    summaries = {
        "tasks": "list the tasks with their measures and options",
        "validate": "check a predictions file",
        "score": "score a predictions file against gold",
        "compare": "compare two predictions files against gold",
    }
    parsers = {name: commands.add_parser(name, help=text, description=text) for name, text in summaries.items()}
    tasks, validate, score, compare = parsers.values()
    tasks.add_argument("--json", action="store_true", help=arguments.JSON)
    is_for_phase = any(word.partition("=")[0] in ("--benchmark", "--phase") for word in words)
    arguments.add_validate(validate, is_for_phase=is_for_phase)
    for command in (score, compare):
        command.add_argument("task", help=arguments.TASK)
        command.add_argument("--gold", required=True, help="the file with the correct answers")
        command.add_argument(
            "--resamples",
            default=str(jobs.RESAMPLES),
            help="number of bootstrap resamples and of permutations; 0 skips intervals and p-values",
        )
        command.add_argument("--seed", default=str(jobs.SEED), help=arguments.SEED)
    score.add_argument("predictions", help=arguments.PREDICTIONS)
    compare.add_argument("predictions_a", help="predictions of the first system")
    compare.add_argument("predictions_b", help="predictions of the second system")
    for command in (validate, score, compare):
        command.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help=arguments.OPTION)
        command.add_argument("--json", action="store_true", help=arguments.JSON)
    baseline.add_to(commands)
    arguments.add_run(commands)
    arguments.add_submit(commands)
    arguments.add_reading(commands)
    curation.add_to(commands)


def _whole_number(name: str, text: str, most: int) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) > most:
        raise UsageError(f"--{name} is {shown(text)}, expected a whole number from 0 to {most}")
    return int(text)


def _options(pairs: Sequence[str]) -> dict[str, str]:
    options: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals:
            raise UsageError(f"--option is {shown(pair)}, expected NAME=VALUE")
        if name in options:
            raise UsageError(f"--option {shown(name)} is given twice, expected once")
        options[name] = value
    return options


def _command(args: argparse.Namespace) -> int:
    if args.command == "tasks":
        return _tasks(args)
    if args.command == "run":
        from evaluator.cli.local import run as running

        return running.run(args, _options(args.option))
    if args.command == "validate" and args.benchmark is not None:
        from evaluator.cli.server import validate

        return validate.validate(args, _job)
    if args.command == "submit":
        from evaluator.cli.server import submit

        return submit.submit(args)
    if args.command in arguments.SERVER_COMMANDS:
        from evaluator.cli.server import commands

        return commands.run(args)
    if args.command == "run-baseline":
        seed = _whole_number("seed", args.seed, _MAX_SEED)
        return baseline.run(args, _options(args.option), seed)
    if args.command in {"split", "audit"}:
        return curation.run(args)
    return _job(args)


def _tasks(args: argparse.Namespace) -> int:
    for problem in TASKS.problems:
        print(f"{PROGRAM}: {printable(str(problem))}", file=sys.stderr)
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
    """Return the job request of a command, and the arguments that name its files, in the order of opening them."""
    options = _options(args.option)
    find_task(args.task).parse_options(options)
    if args.command == "validate":
        validation = ValidateRequest(
            task=args.task, options=options, inputs_name=args.inputs, predictions_name=args.predictions
        )
        return validation, ["predictions", "inputs"]
    resamples = _whole_number("resamples", args.resamples, _MAX_RESAMPLES)
    seed = _whole_number("seed", args.seed, _MAX_SEED)
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


def _job(args: argparse.Namespace) -> int:
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
    result["warnings"] = [*report["gold_warnings"], *result["warnings"]]
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


def run() -> NoReturn:
    """Run the `holdout` command with the arguments of the process, and exit with its status."""
    sys.exit(main(sys.argv[1:]))
