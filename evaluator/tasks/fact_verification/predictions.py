"""Parser of fact-verification predictions: one answer for every claim."""

from collections.abc import Iterable
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
from evaluator.tasks.fact_verification.layout import EXPECTED_LABEL, PREDICTIONS, Answer, label_code
from evaluator.tasks.spelling import FEVER_PAGES, Spellings


@dataclass
class Answers:
    """Parsed predictions, one entry per claim in gold order.

    labels: indices into LABELS; -1: no answer. evidence: the predicted (page, line) pairs, best first.
    """

    labels: npt.NDArray[np.int8]
    evidence: list[list[tuple[str, int]]]
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)


def empty_answers(n_claims: int) -> Answers:
    return Answers(np.full(n_claims, -1, dtype=np.int8), [[] for _ in range(n_claims)])


def read_predictions(stream: BinaryIO, file: str, known: ValidationData, limits: ReadLimits | None) -> Answers:
    """Parse predictions. Raises PredictionError for invalid predictions.

    Every id needs exactly one answer, with `predicted_evidence` if `known.needs_evidence` is True for the claim. file:
    the file's name in messages. limits: limits on its size; None: the default ones.
    """
    reader = Reader(file, PREDICTIONS, PredictionError, limits)
    problems = reader.problems
    register = AnswerRegister(known.index_of, problems)
    labels = np.full(len(known.index_of), -1, dtype=np.int8)
    evidence: list[list[tuple[str, int]]] = [[]] * len(known.index_of)
    pages = Spellings(file, "names of pages", FEVER_PAGES)
    for block in reader.blocks(stream):
        codes = [label_code(line.predicted_label) for line in block.records or ()]
        indices = register.answer_all(block.records, block.first) if -1 not in codes else None
        if indices is not None and _without_evidence(block.records, known.needs_evidence[indices]):
            labels[indices] = codes
            continue
        for number, line in block.lines():
            index = register.index_of(line.id, number) if indices is None else indices.item(number - block.first)
            label = label_code(line.predicted_label)
            if label < 0:
                problems.add(number, "unknown predicted_label", shown(line.predicted_label), EXPECTED_LABEL)
            if index is None:
                continue
            labels[index] = label
            if line.predicted_evidence is not msgspec.UNSET:
                evidence[index] = line.predicted_evidence
                if line.predicted_evidence:
                    pages.add(line.predicted_evidence[0][0], number)
            elif known.needs_evidence[index]:
                problems.add(
                    number, "predicted_evidence is missing", "no such key", "a list of [page, line], which may be empty"
                )
    report_missing(problems, register.silent, reader.n_unread)
    problems.raise_if_any()
    return Answers(labels, evidence, reader.n_lines, reader.warnings, pages.hints())


def _without_evidence(lines: Iterable[Answer] | None, needs_evidence: npt.NDArray[np.bool_]) -> bool:
    """Return True if no line has evidence, and no claim needs evidence.

    lines: None: there are no lines. needs_evidence: for each claim, True if its prediction needs evidence.
    """
    return not needs_evidence.any() and all(line.predicted_evidence is msgspec.UNSET for line in lines or ())
