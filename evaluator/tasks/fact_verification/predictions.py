"""Parser of fact-verification predictions: one answer for every claim."""

from dataclasses import dataclass, field
from typing import BinaryIO

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.errors import PredictionError, shown
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import AnswerRegister, report_missing
from evaluator.jsonl.reader import Reader
from evaluator.tasks.fact_verification.gold import ValidationData
from evaluator.tasks.fact_verification.layout import EXPECTED_LABEL, PREDICTIONS, label_code


@dataclass
class Answers:
    """Parsed predictions, one entry per claim in gold order.

    labels: indices into LABELS; -1: no answer. evidence: the predicted (page, line) pairs, best first.
    """

    labels: npt.NDArray[np.int8]
    evidence: list[list[tuple[str, int]]]
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)


def empty_answers(n_claims: int) -> Answers:
    return Answers(np.full(n_claims, -1, dtype=np.int8), [[] for _ in range(n_claims)])


def read_predictions(stream: BinaryIO, file: str, known: ValidationData, limits: ReadLimits | None) -> Answers:
    """Parse predictions. Raises PredictionError.

    Every id needs exactly one answer, with `predicted_evidence` if `known.needs_evidence` is True for the claim.
    """
    reader = Reader(file, PREDICTIONS, PredictionError, limits)
    problems = reader.problems
    register = AnswerRegister(known.index_of, problems)
    labels: list[int] = [-1] * len(known.index_of)
    evidence: list[list[tuple[str, int]]] = [[]] * len(known.index_of)
    needs_evidence = known.needs_evidence.tolist()
    for number, line in reader.records(stream):
        index = register.index_of(line.id, number)
        label = label_code(line.predicted_label)
        if label < 0:
            problems.add(number, "unknown predicted_label", shown(line.predicted_label), EXPECTED_LABEL)
        if index is None:
            continue
        labels[index] = label
        if line.predicted_evidence is not msgspec.UNSET:
            evidence[index] = line.predicted_evidence
        elif needs_evidence[index]:
            problems.add(
                number, "predicted_evidence is missing", "no such key", "a list of [page, line], which may be empty"
            )
    report_missing(problems, register.silent, reader.n_unread)
    problems.raise_if_any()
    return Answers(np.array(labels, dtype=np.int8), evidence, reader.n_lines, reader.warnings)
