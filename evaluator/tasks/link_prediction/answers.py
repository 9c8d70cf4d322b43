"""Comparable answers of link-prediction: the first mention of each ranking."""

from typing import BinaryIO

import numpy as np

from evaluator.errors import PredictionError
from evaluator.jsonl.ids import AnswerRegister
from evaluator.jsonl.reader import Reader
from evaluator.tasks.answers import CategoricalAnswers, digest
from evaluator.tasks.link_prediction.gold import ValidationData
from evaluator.tasks.link_prediction.layout import PREDICTIONS


def first_ranked(stream: BinaryIO, file: str, known: ValidationData) -> CategoricalAnswers:
    """Return the first mention of each ranking of a file, to be compared with another file's. Units are the questions.

    A first mention is wrong unless it is one of the gold answers. Raises PredictionError for invalid predictions.
    """
    assert known.mentions is not None
    reader = Reader(file, PREDICTIONS, PredictionError)
    register = AnswerRegister(known.index_of, reader.problems)
    answers = np.zeros(len(known.index_of), dtype=np.uint64)
    errs = np.ones(len(known.index_of), dtype=np.bool_)
    for number, line in reader.records(stream):
        index = register.index_of(line.id, number)
        if index is not None and line.ranking:
            answers[index] = digest(line.ranking[0])
            errs[index] = line.ranking[0] not in known.mentions[index][0]
    reader.problems.raise_if_any()
    return CategoricalAnswers(np.arange(len(answers), dtype=np.uint64), answers, errs)
