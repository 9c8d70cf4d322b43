"""Sandbox job that generates a baseline's predictions. It never receives hidden gold."""

from typing import Any

import msgspec

from evaluator.errors import InputsError
from evaluator.jobs.base import SEED, Files, Report, TaskRequest
from evaluator.jsonl.tables import lines_of
from evaluator.tasks.audit.split import Split
from evaluator.tasks.baselines.base import BaselineInput


class BaselineRequest(TaskRequest, frozen=True, kw_only=True):
    """Arguments of `make_baseline`.

    baseline: the baseline's name; train_names: the names of the training files "0", "1"... in this order; expects:
    requirements on predictions, from the gold's `PrepareGoldReport`.
    """

    job = "baseline"
    baseline: str
    inputs_name: str
    train_names: list[str] = []
    expects: dict[str, Any] = {}
    seed: int = SEED


class BaselineReport(Report):
    """Result of `make_baseline`. says: True if the baseline made predictions; n_lines: the number of their lines."""

    says: bool
    n_lines: int


def make_baseline(files: Files, request: BaselineRequest) -> tuple[BaselineReport, bytes]:
    """Generate a baseline's predictions; the attachment is the predictions file.

    The attachment is empty if the baseline cannot answer with these inputs and training splits. files: `inputs`, and
    the gold of public training splits as "0", "1"... in the order of `train_names`.
    """
    task, options = request.parsed()
    baseline = task.baseline(request.baseline)
    default_options = task.parse_options({})  # training gold is read whole, whatever fold the options select
    trains = [
        Split.of(task.audit.columns(gold), name, gold)
        for index, name in enumerate(request.train_names)
        for gold in [task.read_gold(files[str(index)], name, default_options)]
    ]
    task.read_inputs(files["inputs"], request.inputs_name, options, request.expects)
    files["inputs"].seek(0)
    lines = lines_of(files["inputs"], request.inputs_name, InputsError)
    baseline_input = BaselineInput([msgspec.json.decode(line) for line in lines], trains, request.expects, request.seed)
    answers = baseline.answer(baseline_input)
    predictions = b"" if answers is None else msgspec.json.Encoder().encode_lines(answers)
    return BaselineReport(bool(predictions), predictions.count(b"\n")), predictions
