"""Sandbox jobs that detect near-duplicate submissions: one makes a predictions file's sketch, one compares files."""

from typing import Any, BinaryIO

import msgspec

from evaluator.errors import PredictionError
from evaluator.jobs.base import Files, Report, TaskRequest
from evaluator.similarity.predictions import compute_similarity, similarity_sketch
from evaluator.tasks.answers import ScoredAnswers
from evaluator.tasks.base import Options, Task


class SketchRequest(TaskRequest, frozen=True, kw_only=True):
    job = "signature"
    gold_name: str
    predictions_name: str


class SketchReport(Report):
    """Result of `make_sketch`.

    ordered: True if the predictions are one score per unit, of which only the order counts; signature: the sketch from
    `evaluator.similarity.predictions.similarity_sketch`.
    """

    ordered: bool
    signature: list[int]


def make_sketch(files: Files, request: SketchRequest) -> tuple[SketchReport, bytes]:
    """Compute the sketch of a prediction file (`evaluator.similarity.predictions.similarity_sketch`).

    files: `gold`, `predictions`. The attachment is empty.
    """
    task, options = request.parsed()
    gold = task.read_gold(files["gold"], request.gold_name, options)
    return sketch_of(task, gold, files["predictions"], request.predictions_name, options), b""


def sketch_of(task: Task[Any, Any, Any], gold: Any, predictions: BinaryIO, name: str, options: Options) -> SketchReport:
    """Compute the similarity sketch of a prediction file, read from its start.

    gold: as the task read it. name: the name of the prediction file. Raises PredictionError if it is invalid.
    """
    predictions.seek(0)
    answered = task.comparable_answers(gold, predictions, name, options)
    return SketchReport(isinstance(answered, ScoredAnswers), similarity_sketch(answered).tolist())


class NearDuplicatesRequest(TaskRequest, frozen=True, kw_only=True):
    """Arguments of `near_duplicates`. names: the names of the prediction files "0", "1"... in this order."""

    job = "near_duplicates"
    gold_name: str
    names: list[str]


class SimilarityRow(msgspec.Struct, forbid_unknown_fields=True):
    """The similarity of file "0" and one other file: serialized `evaluator.similarity.predictions.SimilarityResult`."""

    equal: float | None
    shared_errors: float | None
    n_units: int
    n_errors: int
    is_near_duplicate: bool


class NearDuplicatesReport(Report):
    """Result of `near_duplicates`. rows: for each prediction file from "1" on; None for a file with invalid
    predictions.
    """

    rows: list[SimilarityRow | None]


def near_duplicates(files: Files, request: NearDuplicatesRequest) -> tuple[NearDuplicatesReport, bytes]:
    """Compute the similarity of the prediction file "0" to each of the other prediction files.

    files: `gold`, and prediction files as "0", "1"... Raises PredictionError if file "0" is invalid. The attachment is
    empty.
    """
    task, options = request.parsed()
    gold = task.read_gold(files["gold"], request.gold_name, options)
    own = task.comparable_answers(gold, files["0"], request.names[0], options)
    rows: list[SimilarityRow | None] = []
    for index, name in enumerate(request.names[1:], start=1):
        try:
            other = task.comparable_answers(gold, files[str(index)], name, options)
        except PredictionError:
            rows.append(None)
            continue
        similarity = compute_similarity(own, other)
        rows.append(SimilarityRow(**similarity.as_dict(), is_near_duplicate=similarity.is_near_duplicate))
    return NearDuplicatesReport(rows), b""
