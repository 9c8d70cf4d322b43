"""What a file of link-prediction answered: the first mention that each ranking holds."""

from typing import BinaryIO

import numpy as np

from evaluator.errors import PredictionError
from evaluator.jsonl.ids import AnswerRegister
from evaluator.jsonl.reader import Reader
from evaluator.tasks.answers import Items, digest
from evaluator.tasks.link_prediction.gold import Known
from evaluator.tasks.link_prediction.layout import PREDICTIONS


def first_ranked(stream: BinaryIO, file: str, known: Known) -> Items:
    """A unit is a question; it errs unless the first mention is among its answers. Raises PredictionError."""
    assert known.mentions is not None
    reader = Reader(file, PREDICTIONS, PredictionError)
    register = AnswerRegister(known.places, reader.problems)
    answers = np.zeros(len(known.places), dtype=np.uint64)
    errs = np.ones(len(known.places), dtype=np.bool_)
    for number, line in reader.records(stream):
        place = register.place(line.id, number)
        if place is not None and line.ranking:
            answers[place] = digest(line.ranking[0])
            errs[place] = line.ranking[0] not in known.mentions[place][0]
    reader.problems.raise_if_any()
    return Items(np.arange(len(answers), dtype=np.uint64), answers, errs)
