"""The sandbox's job that makes a baseline's predictions; no gold that is held out comes near it."""

import gzip
import io
from typing import Any

import msgspec

from evaluator.jobs.base import SEED, Files, Report, TaskRequest
from evaluator.tasks.audit.split import Split
from evaluator.tasks.baselines.base import BaselineInput


class BaselineRequest(TaskRequest, frozen=True, kw_only=True):
    """train_names: of public gold, in the order of its files' numbers. expects: as for `ValidateRequest`."""

    job = "baseline"
    baseline: str
    inputs_name: str
    train_names: list[str] = []
    expects: dict[str, Any] = {}
    seed: int = SEED


class BaselineReport(Report):
    """says: whether there are predictions."""

    says: bool
    n_lines: int


def make_baseline(files: Files, request: BaselineRequest) -> tuple[BaselineReport, bytes]:
    """A baseline's predictions are the attachment, empty where it says nothing.

    files: inputs, and gold of public training splits as "0", "1"...
    """
    task, options = request.parsed()
    baseline = task.baseline(request.baseline)
    every = task.parse_options({})  # of training gold all is read, whatever fold is asked about
    trains = [
        Split.of(task, name, task.read_gold(files[str(index)], name, every))
        for index, name in enumerate(request.train_names)
    ]
    task.read_inputs(files["inputs"], request.inputs_name, options, request.expects)
    files["inputs"].seek(0)
    body = files["inputs"].read()
    # It was read through within its limits a moment ago.
    lines = io.BytesIO(gzip.decompress(body) if request.inputs_name.endswith(".gz") else body)
    given = BaselineInput([msgspec.json.decode(line) for line in lines], trains, request.expects, request.seed)
    answers = baseline.answer(given)
    predictions = b"" if answers is None else msgspec.json.Encoder().encode_lines(answers)
    return BaselineReport(bool(predictions), predictions.count(b"\n")), predictions
