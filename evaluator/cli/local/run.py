"""`holdout-eval run`: run an image locally, confined as on the server, and check its predictions."""

from __future__ import annotations

import argparse
import json
import signal
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from evaluator import jobs
from evaluator.cli import arguments
from evaluator.cli.local import engine, files
from evaluator.cli.output import Progress, print_problems, say
from evaluator.cli.sizes import read_size, size_text
from evaluator.errors import InputsError, UsageError, shown
from evaluator.exit_codes import BAD_GOLD, BAD_PREDICTIONS, DONE
from evaluator.jobs.score import ValidateRequest
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.tables import table_format
from evaluator.sandbox.containers.image_errors import ImageError
from evaluator.sandbox.containers.system_contract import SystemExecution, SystemLimits, SystemResult
from evaluator.sandbox.contract import Verdict
from evaluator.tasks.registry import find_task
from evaluator.text import count_noun


def run(args: argparse.Namespace) -> int:
    """Run the command `run` and return its exit status.

    Raises UsageError for invalid arguments or unreadable files, and SandboxError if the Docker engine fails.
    """
    options = arguments.read_options(args.option)
    parsed = find_task(args.task).parse_options(options)
    limits = _limits(args)
    if kind := table_format(args.inputs):
        raise UsageError(f"--inputs is a table ({kind}), expected JSON Lines, the format in which systems get inputs")
    output_path = files.predictions_path(args.output)
    with ExitStack() as stack:
        stack.enter_context(_ended_by_signals())
        inputs = files.open_inputs(args.inputs, stack)
        predictions = stack.enter_context(tempfile.TemporaryFile())
        try:
            find_task(args.task).read_inputs(inputs, files.plain_name(args.inputs), parsed, {}, ReadLimits())
        except InputsError as error:
            print_problems([problem.as_dict() for problem in error.problems], error.more)
            return BAD_GOLD
        try:
            result = _run_image(args, options, limits, inputs, predictions)
        except ImageError as error:
            say(f"{args.image}: the image is refused ({error.code}): {error}")
            _print(args, {"ok": False, "fault": "image", "code": error.code, "explanation": str(error)})
            return BAD_PREDICTIONS
        _say_log(result)
        if result.verdict is not Verdict.DONE:
            return _failed(args, result)
        output = files.save_predictions(predictions, output_path, result.output_name)
        report = _validate(args, options, {"inputs": inputs, "predictions": predictions}, output)
        return _report(args, result, report, output)


def _run_image(
    args: argparse.Namespace, options: Mapping[str, str], limits: SystemLimits, inputs: BinaryIO, predictions: BinaryIO
) -> SystemResult:
    local = engine.connect(args.runtime)
    with engine.open_image(local, args.image, check=not args.no_check) as image:
        execution = SystemExecution(
            execution_id=f"run-{uuid.uuid4().hex}",
            image=image,
            inputs=inputs.fileno(),
            task=args.task,
            options=dict(options),
            limits=limits,
        )
        progress, began = Progress(), time.monotonic()

        def keep_going() -> bool:
            progress.show(f"running: {time.monotonic() - began:.0f} of {limits.wall_seconds:g} s")
            return True

        progress.show("starting")
        try:
            return local.sandbox.run(execution, predictions, keep_going=keep_going)
        finally:
            progress.end()


def _failed(args: argparse.Namespace, result: SystemResult) -> int:
    status = f" (status {result.exit_code})" if result.exit_code else ""
    say(f"{args.image}: {result.explanation}{status}")
    _say_cost(result)
    _print(args, _as_json(args.task, result))
    return BAD_PREDICTIONS


def _validate(
    args: argparse.Namespace, options: Mapping[str, str], opened: Mapping[str, BinaryIO], output: Path
) -> dict[str, Any]:
    """Validate the predictions with the server's code and return the report of the job `validate`.

    options: name -> value of the task's options, as texts. opened: the open files, under the names `inputs` and
    `predictions`. output: the path to which the predictions were saved, which names them in error messages.
    """
    for file in opened.values():
        file.seek(0)
    request = ValidateRequest(
        task=args.task,
        options=dict(options),
        inputs_name=files.plain_name(args.inputs),
        predictions_name=str(output),
    )
    report, _ = jobs.run(request, opened)
    return report


def _report(args: argparse.Namespace, result: SystemResult, report: dict[str, Any], output: Path) -> int:
    _print(args, {**_as_json(args.task, result), **report, "output": str(output)})
    print_problems(report.get("problems", []), report.get("more", 0))
    for warning in report.get("warnings", []):
        say(f"warning: {warning}")
    _say_cost(result)
    if not report["ok"]:
        return BAD_PREDICTIONS if report["fault"] == "predictions" else BAD_GOLD
    say(f"{output}: {count_noun(report['n_lines'], 'line')}, no problems")
    return DONE


def _limits(args: argparse.Namespace) -> SystemLimits:
    values: dict[str, Any] = {}
    if args.memory is not None:
        values["memory_bytes"] = read_size("memory", args.memory)
    numbers = (("seconds", "wall_seconds", float), ("cpus", "cpus", float), ("processes", "processes", int))
    for option, name, kind in numbers:
        if (text := getattr(args, option)) is not None:
            try:
                values[name] = kind(text)
            except ValueError:
                expected = "a whole number" if kind is int else "a number"
                raise UsageError(f"--{option} is {shown(text)}, expected {expected}") from None
    try:
        return SystemLimits(**values)
    except ValueError as error:
        raise UsageError(str(error)) from None


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C, so that the container is removed."""

    def interrupt(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _print(args: argparse.Namespace, payload: dict[str, Any]) -> None:
    if args.json:
        print(json.dumps(payload))


def _as_json(task: str, result: SystemResult) -> dict[str, Any]:
    usage = result.usage
    return {
        "ok": False,
        "task": task,
        "verdict": result.verdict.value,
        "explanation": result.explanation,
        "exit_code": result.exit_code,
        "cost": {
            "wall_seconds": round(result.wall_seconds, 3),
            "cpu_seconds": usage.cpu_seconds,
            "peak_memory_bytes": usage.peak_memory_bytes,
            "peak_is_sampled": usage.peak_is_sampled,
            "image_bytes": result.image_bytes,
        },
        "sandbox": dict(result.layers),
        "log": result.log,
        "log_is_cut": result.log_is_cut,
    }


def _say_cost(result: SystemResult) -> None:
    usage = result.usage
    parts = [f"{result.wall_seconds:.1f} s"]
    if usage.cpu_seconds is not None:
        parts.append(f"{usage.cpu_seconds:.1f} s of CPU time")
    if usage.peak_memory_bytes is not None:
        sampled = "at least " if usage.peak_is_sampled else ""
        parts.append(f"{sampled}{size_text(usage.peak_memory_bytes)} of memory")
    say(f"cost: {', '.join(parts)}; image {size_text(result.image_bytes)}")


def _say_log(result: SystemResult) -> None:
    if result.log:
        say("--- output of the container" + (" (the end)" if result.log_is_cut else ""))
        say(result.log.rstrip("\n"))
        say("---")
