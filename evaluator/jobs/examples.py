"""Job that lists the items of a gold with public answers, each with one system's predictions and their result."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, Literal

import msgspec
import numpy as np

from evaluator.errors import FileError, GoldError, PredictionError
from evaluator.jobs.base import Count, Files, Report, TaskRequest
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.tables import lines_of
from evaluator.outcomes.table import Dimension, Outcomes
from evaluator.tasks.base import AnyTask
from evaluator.tasks.item_results import ItemRows, Results
from evaluator.text import slice_text

MOST_EXAMPLES = 100_000
"""Maximum number of items in one report."""
_BESIDES = ("group", "slices")


class ExamplesRequest(TaskRequest, frozen=True, kw_only=True):
    """Arguments of `examples`.

    dimension, value, cell and result are filters; an empty text selects all items. dimension, value: a slice, its value
    as text; results are then computed on the slice, as scores are. cell: a cell of the confusion matrix, as `GOLD →
    PREDICTED`. result: `right`, or `wrong`, which includes partly right items; an item without a share is neither.
    order: `gold` for the order of the gold, `worst` for the smallest share first, items without a share last. offset:
    the number of selected items to skip; limit: the maximum number to return, at most MOST_EXAMPLES.
    """

    job = "examples"
    gold_name: str
    predictions_name: str
    dimension: str = ""
    value: str = ""
    cell: str = ""
    result: str = ""
    order: Literal["gold", "worst"] = "gold"
    offset: Count = 0
    limit: Count = MOST_EXAMPLES


class Example(msgspec.Struct, forbid_unknown_fields=True):
    """One item of the gold.

    input: the fields of the item's gold line that participants see; gold: the other fields, without group and slices;
    both as JSON. predictions: the lines that answer the item. share: 1 if it is right, 0 if it is wrong, between if
    partly right; None: it counts nothing, or the task does not rate single items. values: title -> further numbers of
    the item's result, None for no value. cell: the item's cell of the confusion matrix, as `GOLD → PREDICTED`; empty in
    tasks without labels, and without a prediction. slices: dimension -> the item's values, as text.
    """

    id: str | int
    input: str
    gold: str
    predictions: list[str]
    share: float | None
    values: dict[str, float | None]
    cell: str
    slices: dict[str, list[str]]


class ExamplesReport(Report):
    """Result of `examples`.

    n: the number of items that pass the filters; measure: the name of the measure that ranks systems, empty if the task
    does not rate single items; right_if: an explanation for readers of when an item is right. dimensions: dimension ->
    its values, as text. cells: cell of the confusion matrix -> number of items of the slice.
    """

    examples: list[Example]
    n: int
    measure: str
    right_if: str
    dimensions: dict[str, list[str]]
    cells: dict[str, int]


def examples(files: Files, request: ExamplesRequest) -> tuple[ExamplesReport, bytes]:
    """List the items of the gold that the request selects, in its order, with predictions and results.

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
    rows = _rows(task, gold, answers, outcomes, len(lines))
    slices = [_declared(line) for line in lines] if rows is None else _slices(rows, lines)
    in_slice = [i for i, its in enumerate(slices) if _is_in(its, request)]
    rated = None if rows is None else _rated(task, _cut(rows, request))
    items = [
        _example(task, lines[i], answered.get(lines[i][task.id_key], []), slices[i], results=rated, index=i)
        for i in in_slice
    ]
    chosen = [item for item in items if _passes(item, request)]
    if request.order == "worst":
        chosen.sort(key=lambda item: math.inf if item.share is None else item.share)
    dimensions: dict[str, dict[str, None]] = {}
    for its in slices:
        for name, values in its.items():
            dimensions.setdefault(name, {}).update(dict.fromkeys(values))
    return ExamplesReport(
        examples=chosen[request.offset : request.offset + min(request.limit, MOST_EXAMPLES)],
        n=len(chosen),
        measure="" if rated is None else task.primary(outcomes.facts),
        right_if="" if task.item_result is None else task.item_result.doc,
        dimensions={name: sorted(values) for name, values in dimensions.items()},
        cells=dict(sorted(Counter(item.cell for item in items if item.cell).items())),
    ), b""


def _rows(task: AnyTask, gold: Any, answers: Any, outcomes: Outcomes, n_items: int) -> ItemRows | None:
    """Return the outcomes' rows that rate the gold's items; None if the task does not rate single items.

    gold, answers: as the task read them. n_items: the number of items of the gold.
    """
    if task.item_result is None:
        return None
    items = task.item_rows(gold, answers, outcomes)
    rows = np.flatnonzero(items >= 0)
    return ItemRows(outcomes, rows, items[rows], n_items)


def _rated(task: AnyTask, rows: ItemRows) -> Results:
    assert task.item_result is not None
    return task.item_result.results(task.measure(task.primary(rows.outcomes.facts)), rows)


def _cut(rows: ItemRows, request: ExamplesRequest) -> ItemRows:
    """Return the rows in the slice of the request; no rows if the outcomes have no such dimension or value."""
    if not request.dimension:
        return rows
    dimension = rows.outcomes.dimensions.get(request.dimension)
    codes = [] if dimension is None else [i for i, text in enumerate(_texts(dimension)) if text == request.value]
    chosen = np.zeros(len(rows.rows), dtype=np.bool_)
    if dimension is not None:
        chosen = np.isin(dimension.codes[rows.rows], codes)
    return ItemRows(rows.outcomes, rows.rows[chosen], rows.items[chosen], rows.n_items)


def _texts(dimension: Dimension) -> list[str]:
    return [slice_text(value) for value in dimension.values]


def _declared(line: Mapping[str, Any]) -> dict[str, list[str]]:
    return {name: [slice_text(value)] for name, value in (line.get("slices") or {}).items()}


def _slices(rows: ItemRows, lines: Sequence[Mapping[str, Any]]) -> list[dict[str, list[str]]]:
    """Return, for each item, dimension -> its values as text.

    The values are those of the item's rows; for an item without rows, those that its gold line declares.
    """
    slices: list[dict[str, list[str]]] = [{} for _ in lines]
    for name, dimension in rows.outcomes.dimensions.items():
        texts, codes = _texts(dimension), dimension.codes[rows.rows].tolist()
        for item, code in zip(rows.items.tolist(), codes, strict=True):
            if code >= 0:
                values = slices[item].setdefault(name, [])
                if texts[code] not in values:
                    values.append(texts[code])
    for item in np.setdiff1d(np.arange(len(lines)), rows.items).tolist():
        slices[item] = _declared(lines[item])
    return slices


def _lines(stream: BinaryIO, name: str, error: type[FileError]) -> Iterator[dict[str, Any]]:
    """Yield the JSON object on each line of a file that has already been validated.

    name: the file's name, which ends in .gz if it is compressed. error: the exception type for a file that cannot be
    decompressed.
    """
    stream.seek(0)
    return map(msgspec.json.decode, lines_of(stream, name, error))


def _example(
    task: AnyTask,
    line: dict[str, Any],
    predictions: list[str],
    slices: dict[str, list[str]],
    *,
    results: Results | None,
    index: int,
) -> Example:
    given, answer = _parts(task, {name: value for name, value in line.items() if name not in _BESIDES})
    return Example(
        id=line[task.id_key],
        input=_as_json(given),
        gold=_as_json(answer),
        predictions=predictions,
        share=None if results is None else _number(results.shares[index]),
        values={} if results is None else {title: _number(column[index]) for title, column in results.values.items()},
        cell=_cell(task, line, predictions, results, index),
        slices=slices,
    )


def _parts(task: AnyTask, line: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return (the fields that participants see, the other fields) of a gold line; parts of the line are cut in the same
    way.
    """
    given = {name: value for name, value in line.items() if name not in task.gold_only}
    answer = {name: value for name, value in line.items() if name in task.gold_only}
    if task.input_parts in given:
        parts = [_parts(task, part) for part in given[task.input_parts]]
        given[task.input_parts] = [part for part, _ in parts]
        answer[task.input_parts] = [part for _, part in parts]
    return given, answer


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def _cell(task: AnyTask, line: dict[str, Any], predictions: Sequence[str], results: Results | None, index: int) -> str:
    """Return the item's gold and predicted label as `GOLD → PREDICTED`.

    The text is empty if the task has no labels, or if there is no prediction for the item. predictions: the lines that
    answer the item. index: the item's index in `results`.
    """
    if results is not None and results.cells is not None:
        gold, predicted = results.cells[index]
    elif task.label_keys is not None and predictions:
        gold = line[task.label_keys[0]]
        predicted = msgspec.json.decode(predictions[0]).get(task.label_keys[1], "")
    else:
        return ""
    return f"{gold} \N{RIGHTWARDS ARROW} {predicted}".upper()


def _is_in(slices: Mapping[str, Sequence[str]], request: ExamplesRequest) -> bool:
    return not request.dimension or request.value in slices.get(request.dimension, ())


def _passes(item: Example, request: ExamplesRequest) -> bool:
    if request.cell and item.cell != request.cell:
        return False
    return not request.result or (item.share is not None and (item.share == 1) == (request.result == "right"))


def _as_json(value: Mapping[str, Any]) -> str:
    return msgspec.json.encode(value).decode()
