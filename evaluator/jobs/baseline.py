"""The sandbox's job that makes a baseline's predictions; no gold that is held out comes near it."""

import gzip
import io
from collections.abc import Mapping
from typing import Any, BinaryIO

import msgspec

from evaluator.tasks.audit.split import Split
from evaluator.tasks.baselines.base import BaselineInput
from evaluator.tasks.registry import find_task

SEED = 0


def make_baseline(files: Mapping[str, BinaryIO], arguments: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
    """The baseline that the argument `baseline` names; the attachment is its predictions, empty where it says nothing.

    files: inputs, and gold of public training splits as "0", "1"...; `inputs_name` and `train_names` have their names.
    """
    task = find_task(arguments["task"])
    baseline = task.baseline(arguments["baseline"])
    options = task.parse_options(arguments.get("options", {}))
    every = task.parse_options({})  # of training gold all is read, whatever fold is asked about
    trains = [
        Split.of(task, name, task.read_gold(files[str(place)], name, every))
        for place, name in enumerate(arguments.get("train_names", []))
    ]
    facts, name = arguments.get("expects", {}), arguments["inputs_name"]
    task.read_inputs(files["inputs"], name, options, facts)
    files["inputs"].seek(0)
    body = files["inputs"].read()
    # It was read through within its limits a moment ago.
    lines = io.BytesIO(gzip.decompress(body) if name.endswith(".gz") else body)
    given = BaselineInput([msgspec.json.decode(line) for line in lines], trains, facts, arguments.get("seed", SEED))
    answers = baseline.answer(given)
    predictions = b"" if answers is None else msgspec.json.Encoder().encode_lines(answers)
    return {"ok": True, "says": bool(predictions), "n_lines": predictions.count(b"\n")}, predictions
