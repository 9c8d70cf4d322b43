"""Reads the predictions of fact-extraction: a list of facts for a text."""

from dataclasses import dataclass, field
from typing import BinaryIO

from evaluator.errors import PredictionError
from evaluator.identifiers import AnswerRegister
from evaluator.readers import Reader
from evaluator.tasks.fact_extraction.gold import Known
from evaluator.tasks.fact_extraction.layout import PREDICTIONS
from evaluator.tasks.fact_extraction.tallies import Tally, tally
from evaluator.unpacking import ReadLimits


@dataclass
class Answers:
    """The tallies of every text that has predicted facts; the facts themselves are not kept."""

    tallies: list[Tally] = field(default_factory=list)
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)


def read_predictions(stream: BinaryIO, file: str, known: Known, limits: ReadLimits | None) -> Answers:
    """Raises PredictionError. A text that is left out counts as nothing found, with a warning."""
    reader = Reader(file, PREDICTIONS, PredictionError, limits)
    register = AnswerRegister(known.places, reader.problems)
    tallies: list[Tally] = []
    for number, line in reader.records(stream):
        place = register.place(line.id, number)
        if place is not None and known.gold is not None:
            tallies += tally(place, line.facts, known.gold.texts[place], known.gold.relations)
    reader.problems.raise_if_any()
    return Answers(tallies, reader.n_lines, [*reader.warnings, *register.warnings])
