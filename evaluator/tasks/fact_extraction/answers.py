"""Comparable answers of fact-extraction: the predicted facts, each with the text that it belongs to."""

from typing import BinaryIO

from evaluator.errors import PredictionError
from evaluator.jsonl.ids import AnswerRegister
from evaluator.jsonl.reader import Reader
from evaluator.tasks.answers import CategoricalAnswers, predicted_or_gold
from evaluator.tasks.fact_extraction.gold import Gold
from evaluator.tasks.fact_extraction.layout import PREDICTIONS


def predicted_facts(stream: BinaryIO, file: str, gold: Gold) -> CategoricalAnswers:
    """Return the predicted facts of a file, to be compared with another file's.

    Units are the facts of each text that are predicted or in the gold. Raises PredictionError for invalid predictions.
    """
    reader = Reader(file, PREDICTIONS, PredictionError)
    register = AnswerRegister(gold.ids, reader.problems)
    predicted = []
    for number, line in reader.records(stream):
        index = register.index_of(line.id, number)
        if index is not None:
            predicted += [(index, *fact) for fact in line.facts]
    reader.problems.raise_if_any()
    return predicted_or_gold(predicted, [(index, *fact) for index, facts in enumerate(gold.facts) for fact in facts])
