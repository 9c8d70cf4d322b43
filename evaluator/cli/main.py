"""The command `holdout-eval`: score and submit predictions.

Exit status: 0 success; 1 an audit found errors that block publishing; 2 the predictions (or the image) are invalid; 3
the gold (or the inputs) is invalid; 4 internal error, or the Docker engine or the server is unavailable; 64 usage
error; 75 a submission is not finished yet; 130 interrupted.
"""

import argparse
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

try:  # imports take a moment; an interrupt meanwhile should print no traceback
    import evaluator.blas  # noqa: F401  - before the first import of NumPy
    from evaluator import __version__
    from evaluator.cli import arguments
    from evaluator.cli.output import printable_lines
    from evaluator.errors import SandboxError, UsageError
    from evaluator.exit_codes import DONE, INTERNAL_ERROR, INTERRUPTED, WRONG_USAGE
    from evaluator.options import Parser
except KeyboardInterrupt:
    sys.exit(130)

PROGRAM = "holdout-eval"
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


class _Parser(Parser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}\n{self.format_usage().strip()}")


def main(words: Sequence[str]) -> int:
    """Run the command of the command line `words`, and return its exit status."""
    try:
        args = _parse(words)
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


def _parse(words: Sequence[str]) -> argparse.Namespace:
    """Return the arguments of the command line. Raises UsageError if it is invalid."""
    parser = _parser(words)
    args, unknown = parser.parse_known_args(words)
    if unknown and args.command == "validate" and args.benchmark is not None and not unknown[0].startswith("-"):
        raise UsageError(
            "expected either TASK and --inputs, or --benchmark and --phase, of which the server knows task and inputs"
        )
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return args


def _parser(words: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Return the parser of all commands.

    words: the command line. It decides which arguments `validate` has, and the subcommands of `split` and `audit`,
    which import NumPy, are added only if it begins with one of these commands. None: all subcommands are added.
    """
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
    """Return the list of all commands in groups, for the help.

    commands: the result of `ArgumentParser.add_subparsers`.
    """
    summaries = {action.dest: action.help for action in commands._choices_actions}
    lines = []
    for group, names in arguments.GROUPS.items():
        lines += [f"{group}:", *(f"  {name:18}{summaries[name]}" for name in names if name in summaries), ""]
    return "\n".join([*lines, EXIT_STATUSES, "", f"Run `{PROGRAM} COMMAND --help` for the arguments of a command."])


def _add_commands(commands: Any, words: Sequence[str] | None) -> None:
    summaries = {
        "tasks": "list the tasks with their measures and options",
        "validate": "check a predictions file",
        "score": "score a predictions file against gold",
        "compare": "compare two predictions files against gold",
    }
    parsers = {name: commands.add_parser(name, help=text, description=text) for name, text in summaries.items()}
    tasks, validate, score, compare = parsers.values()
    tasks.add_argument("--json", action="store_true", help=arguments.JSON)
    is_for_phase = any(word.partition("=")[0] in ("--benchmark", "--phase") for word in words or ())
    arguments.add_validate(validate, is_for_phase=is_for_phase)
    for command in (score, compare):
        command.add_argument("task", help=arguments.TASK)
        command.add_argument("--gold", required=True, help="the file with the correct answers")
        command.add_argument(
            "--resamples",
            help="number of bootstrap resamples and of permutations; 0 skips intervals and p-values",
        )
        command.add_argument("--seed", default="0", help=arguments.SEED)
    score.add_argument("predictions", help=arguments.PREDICTIONS)
    compare.add_argument("predictions_a", help="predictions of the first system")
    compare.add_argument("predictions_b", help="predictions of the second system")
    for command in (validate, score, compare):
        command.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help=arguments.OPTION)
        command.add_argument("--json", action="store_true", help=arguments.JSON)
    arguments.add_run_baseline(commands)
    arguments.add_run(commands)
    arguments.add_submit(commands)
    arguments.add_server_commands(commands)
    curation_parsers = {
        name: commands.add_parser(name, help=text, description=text) for name, text in arguments.CURATION.items()
    }
    if words is None or (words[:1] and words[0] in curation_parsers):
        from evaluator.cli import curation

        for name, parser in curation_parsers.items():
            curation.add_to(parser, name)


def _command(args: argparse.Namespace) -> int:
    if args.command == "submit":
        from evaluator.cli.server import submit

        return submit.submit(args)
    if args.command in arguments.SERVER_COMMANDS:
        from evaluator.cli.server import commands

        return commands.run(args)
    if args.command in arguments.CURATION:
        from evaluator.cli import curation

        return curation.run(args)
    if args.command == "run":
        from evaluator.cli.local import run as running

        return running.run(args)
    if args.command == "run-baseline":
        from evaluator.cli.local import baseline

        return baseline.run(args)
    if args.command == "validate" and args.benchmark is not None:
        from evaluator.cli.local import scoring
        from evaluator.cli.server import validate

        return validate.validate(args, scoring.run)
    from evaluator.cli.local import scoring

    return scoring.list_tasks(args) if args.command == "tasks" else scoring.run(args)


def run() -> NoReturn:
    """Run the `holdout-eval` command with the arguments of the process, and exit with its status."""
    sys.exit(main(sys.argv[1:]))
