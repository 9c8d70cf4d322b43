"""What a file of fact-extraction answered: its facts, each with its text."""

from typing import BinaryIO

from evaluator.errors import PredictionError
from evaluator.jsonl.ids import AnswerRegister
from evaluator.jsonl.reader import Reader
from evaluator.tasks.answers import Items, given_or_gold
from evaluator.tasks.fact_extraction.gold import Gold
from evaluator.tasks.fact_extraction.layout import PREDICTIONS


def facts_given(stream: BinaryIO, file: str, gold: Gold) -> Items:
    """A unit is a fact of a text. Raises PredictionError."""
    reader = Reader(file, PREDICTIONS, PredictionError)
    register = AnswerRegister(gold.ids, reader.problems)
    given = []
    for number, line in reader.records(stream):
        place = register.place(line.id, number)
        if place is not None:
            given += [(place, *fact) for fact in line.facts]
    reader.problems.raise_if_any()
    return given_or_gold(given, [(place, *fact) for place, facts in enumerate(gold.facts) for fact in facts])
