"""The sandbox's jobs that look for near-copies: a file's signature, and a file beside others."""

import msgspec

from evaluator.errors import PredictionError
from evaluator.jobs.base import Files, Report, TaskRequest
from evaluator.similarity.predictions import likeness, signature
from evaluator.tasks.answers import Ordered


class SignatureRequest(TaskRequest, frozen=True, kw_only=True):
    job = "signature"
    gold_name: str
    predictions_name: str


class SignatureReport(Report):
    """ordered: whether the task orders units. signature: `evaluator.similarity.predictions.signature`."""

    ordered: bool
    signature: list[int]


def make_signature(files: Files, request: SignatureRequest) -> tuple[SignatureReport, bytes]:
    """The signature of a prediction file. files: gold, predictions."""
    task, options = request.parsed()
    gold = task.read_gold(files["gold"], request.gold_name, options)
    answered = task.answered(gold, files["predictions"], request.predictions_name, options)
    return SignatureReport(isinstance(answered, Ordered), [int(number) for number in signature(answered)]), b""


class NearCopiesRequest(TaskRequest, frozen=True, kw_only=True):
    """names: of the prediction files, in the order of their numbers."""

    job = "near_copies"
    gold_name: str
    names: list[str]


class SimilarityRow(msgspec.Struct, forbid_unknown_fields=True):
    """`evaluator.similarity.predictions.Likeness` of one other file."""

    equal: float | None
    shared_errors: float | None
    n_units: int
    n_errors: int
    is_near_copy: bool


class NearCopiesReport(Report):
    """A row for each file from "1" on, None for one that cannot be read."""

    rows: list[SimilarityRow | None]


def near_copies(files: Files, request: NearCopiesRequest) -> tuple[NearCopiesReport, bytes]:
    """How like one file is to each of some others. files: gold, and predictions "0", "1"...: the first is the one."""
    task, options = request.parsed()
    gold = task.read_gold(files["gold"], request.gold_name, options)
    own = task.answered(gold, files["0"], request.names[0], options)
    rows: list[SimilarityRow | None] = []
    for index, name in enumerate(request.names[1:], start=1):
        try:
            other = task.answered(gold, files[str(index)], name, options)
        except PredictionError:
            rows.append(None)
            continue
        found = likeness(own, other)
        rows.append(SimilarityRow(**found.as_dict(), is_near_copy=found.is_near_copy))
    return NearCopiesReport(rows), b""
