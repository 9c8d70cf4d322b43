"""Job that lists the items of a gold with public answers, each with one system's predictions and its result."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import msgspec
import numpy as np

from evaluator.errors import FileError, GoldError, PredictionError, ProblemList
from evaluator.jobs.base import Count, Files, Report, TaskRequest
from evaluator.jsonl.decompress import ReadLimits, chunks
from evaluator.measures.base import Measure, Ratio
from evaluator.outcomes.table import Numbers, Outcomes
from evaluator.scoring.score import existing
from evaluator.statistics.mcnemar import single_statistic
from evaluator.tasks.base import AnyTask
from evaluator.text import slice_text

MOST_EXAMPLES = 100_000
"""Maximum number of items in one report."""
_BESIDES = ("group", "slices")


class ExamplesRequest(TaskRequest, frozen=True, kw_only=True):
    """Arguments of `examples`.

    Filters, of which an empty text selects all items: dimension, value: a slice, its value as text. cell: a cell of the
    confusion matrix, as `GOLD → PREDICTED`. result: `right` or `wrong`. offset: the number of selected items to skip;
    limit: the maximum number to return.
    """

    job = "examples"
    gold_name: str
    predictions_name: str
    dimension: str = ""
    value: str = ""
    cell: str = ""
    result: str = ""
    offset: Count = 0
    limit: Count = MOST_EXAMPLES


class Example(msgspec.Struct, forbid_unknown_fields=True):
    """One item of the gold.

    input: the fields of its gold line that participants see; gold: the other fields; both as JSON. predictions: the
    lines that answer it. share: 1 if it is right, 0 if it is wrong, between if partly right; None: the task's measures
    do not rate single items. cell: its cell of the confusion matrix, as `GOLD → PREDICTED`; empty in tasks without
    labels. slices: its value of each dimension, as text.
    """

    id: str | int
    input: str
    gold: str
    predictions: list[str]
    share: float | None
    cell: str
    slices: dict[str, str]


class ExamplesReport(Report):
    """Result of `examples`.

    n: number of items that pass the filters; measure: name of the measure that `share` comes from, empty: none.
    dimensions: the values of each dimension, as text. cells: number of items by cell of the confusion matrix.
    """

    examples: list[Example]
    n: int
    measure: str
    dimensions: dict[str, list[str]]
    cells: dict[str, int]


def examples(files: Files, request: ExamplesRequest) -> tuple[ExamplesReport, bytes]:
    """List the items of the gold, in its order, with predictions and results.

    files: `gold`, `predictions`. The attachment is empty.
    """
    task, options = request.parsed()
    gold = task.read_gold(files["gold"], request.gold_name, options)
    answers = task.read_predictions(
        files["predictions"], request.predictions_name, task.validation_data(gold), options, ReadLimits()
    )
    outcomes = task.score(gold, answers, options)
    lines = list(_lines(files["gold"], request.gold_name, GoldError))
    answered: dict[Any, list[str]] = {}
    for line in _lines(files["predictions"], request.predictions_name, PredictionError):
        answered.setdefault(line.get(task.id_key), []).append(_as_json(line))
    results = _results(task, outcomes, len(lines))
    items = [_example(task, line, answered.get(line[task.id_key], []), results, i) for i, line in enumerate(lines)]
    chosen = [item for item in items if _passes(item, request)]
    dimensions: dict[str, dict[str, None]] = {}
    for item in items:
        for name, value in item.slices.items():
            dimensions.setdefault(name, {})[value] = None
    return ExamplesReport(
        examples=chosen[request.offset : request.offset + min(request.limit, MOST_EXAMPLES)],
        n=len(chosen),
        measure=results.measure,
        dimensions={name: sorted(values) for name, values in dimensions.items()},
        cells=dict(sorted(Counter(item.cell for item in items if item.cell).items())),
    ), b""


@dataclass(frozen=True)
class _Results:
    """Results of single items by the measure named `measure`.

    shares: of each item, the share that is right; None if no measure rates single items. slices: of each item, its
    value of each dimension.
    """

    measure: str
    shares: Numbers | None
    slices: Sequence[Mapping[str, str]] | None


def _results(task: AnyTask, outcomes: Outcomes, n: int) -> _Results:
    """Return the items' results by the first measure that rates single items; the primary measure is tried first."""
    primary = task.primary(outcomes.facts)
    measures = sorted(existing(task.measures, outcomes.facts), key=lambda measure: measure.name != primary)
    for measure in measures:
        found = _units(task, measure, outcomes, n)
        if found is not None:
            rows, shares = found
            return _Results(measure.name, shares, [_slices_of(outcomes, row) for row in rows.tolist()])
    return _Results("", None, None)


def _units(task: AnyTask, measure: Measure, outcomes: Outcomes, n: int) -> tuple[Any, Numbers] | None:
    """Return (the index of each of the n items' rows in the outcomes, the share of each item that is right).

    None if the measure is not the mean, over the items, of such a share from 0 to 1.
    """
    if not isinstance(measure, Ratio):
        return None
    right, unit = single_statistic(measure.numerator), single_statistic(measure.denominator)
    if right is None or unit is None or unit != task.item_statistic:
        return None
    rows = np.flatnonzero(outcomes.statistics[unit])
    shares = outcomes.statistics[right][rows]
    return (rows, shares) if len(rows) == n and np.all((shares >= 0) & (shares <= 1)) else None


def _slices_of(outcomes: Outcomes, row: int) -> dict[str, str]:
    codes = {name: int(dimension.codes[row]) for name, dimension in outcomes.dimensions.items()}
    return {name: slice_text(outcomes.dimensions[name].values[code]) for name, code in codes.items() if code >= 0}


def _lines(stream: BinaryIO, name: str, error: type[FileError]) -> Iterator[dict[str, Any]]:
    """Yield the JSON object on each line of a file that has already been validated.

    name: the file's name, which ends in .gz if it is compressed. error: the exception type for a file that cannot be
    decompressed.
    """
    stream.seek(0)
    body = b"".join(chunks(stream, ReadLimits(), ProblemList(name, error)))
    return map(msgspec.json.decode, body.splitlines())


def _example(task: AnyTask, line: dict[str, Any], predictions: list[str], results: _Results, index: int) -> Example:
    declared = line.get("slices", {})
    slices = results.slices[index] if results.slices else {name: slice_text(value) for name, value in declared.items()}
    shown = {name: value for name, value in line.items() if name not in _BESIDES}
    return Example(
        id=line[task.id_key],
        input=_as_json({name: value for name, value in shown.items() if name not in task.gold_only}),
        gold=_as_json({name: value for name, value in shown.items() if name in task.gold_only}),
        predictions=predictions,
        share=None if results.shares is None else float(results.shares[index]),
        cell=_cell(task, line, predictions),
        slices=dict(slices),
    )


def _cell(task: AnyTask, line: dict[str, Any], predictions: Sequence[str]) -> str:
    """Return the item's gold and predicted label as `GOLD → PREDICTED`.

    It is empty if the task has no labels, or if there is no prediction for the item.
    """
    if task.label_keys is None or not predictions:
        return ""
    predicted = msgspec.json.decode(predictions[0]).get(task.label_keys[1], "")
    return f"{line[task.label_keys[0]]} \N{RIGHTWARDS ARROW} {predicted}".upper()


def _passes(item: Example, request: ExamplesRequest) -> bool:
    if request.dimension and item.slices.get(request.dimension) != request.value:
        return False
    if request.cell and item.cell != request.cell:
        return False
    return not request.result or (item.share is not None and (item.share == 1) == (request.result == "right"))


def _as_json(value: Mapping[str, Any]) -> str:
    return msgspec.json.encode(value).decode()
