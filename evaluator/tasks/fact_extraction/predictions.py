"""Reads the predictions of fact-extraction: a list of facts for a text."""

from array import array
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from evaluator.errors import PredictionError
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import AnswerRegister
from evaluator.jsonl.reader import Reader
from evaluator.tasks.fact_extraction.gold import Known
from evaluator.tasks.fact_extraction.layout import PREDICTIONS
from evaluator.tasks.fact_extraction.tallies import tally


@dataclass
class Answers:
    """The tallies of every text that has predicted facts; the facts themselves are not kept.

    tallies: n x 5, the place of a text and its tally of one relation.
    """

    tallies: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 5), dtype=np.int64))
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)


def read_predictions(stream: BinaryIO, file: str, known: Known, limits: ReadLimits | None) -> Answers:
    """Raises PredictionError. A text that is left out counts as nothing found, with a warning."""
    reader = Reader(file, PREDICTIONS, PredictionError, limits)
    register = AnswerRegister(known.places, reader.problems)
    numbers = array("q")
    for number, line in reader.records(stream):
        place = register.place(line.id, number)
        if place is not None and known.gold is not None:
            for one in tally(line.facts, known.gold.texts[place], known.gold.relations):
                numbers.append(place)
                numbers.extend(one)
    reader.problems.raise_if_any()
    tallies = np.array(numbers, dtype=np.int64).reshape(-1, 5)
    return Answers(tallies, reader.n_lines, [*reader.warnings, *register.warnings])
