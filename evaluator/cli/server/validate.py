"""`validate --benchmark B --phase P FILE`: check predictions with the task, options and inputs of a phase."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from evaluator.cli.server.errors import refused
from evaluator.cli.server.tokens import connect
from evaluator.client.api import find_phase
from evaluator.client.http import RefusedError
from evaluator.errors import UsageError


def validate(args: argparse.Namespace, run: Callable[[argparse.Namespace], int]) -> int:
    """Download the inputs and the options of a phase, check the predictions with them, and return the exit status.

    run: the function that checks predictions locally. It gets `args`, in which `task`, `inputs` and `option` are set to
    those of the phase. Raises UsageError for a phase that the benchmark does not have, and SandboxError if the server
    does not respond.
    """
    if args.inputs is not None or args.option:
        raise UsageError("--inputs and --option belong to a TASK; with --benchmark the server knows both")
    server = connect(args.server, args.token_file, needs_token=False)
    try:
        benchmark = server.benchmark(args.benchmark)
        phase = find_phase(benchmark, args.phase)
        with tempfile.TemporaryDirectory(prefix="holdout-") as folder:
            inputs = Path(folder) / "inputs.jsonl"
            with inputs.open("w+b") as file:
                server.download_inputs(args.benchmark, phase["split"], file)
            options = [f"{name}={value}" for name, value in phase["options"].items()]
            found = {"task": benchmark["task"], "inputs": str(inputs), "option": options}
            return run(argparse.Namespace(**{**vars(args), **found}))
    except RefusedError as error:
        return refused(error, as_json=args.json)
