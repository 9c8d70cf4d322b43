"""Parser of fact-extraction predictions: a list of facts per text."""

from array import array
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from evaluator.errors import PredictionError
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import AnswerRegister
from evaluator.jsonl.reader import Reader
from evaluator.tasks.fact_extraction.gold import ValidationData
from evaluator.tasks.fact_extraction.layout import PREDICTIONS
from evaluator.tasks.fact_extraction.tallies import tally


@dataclass
class Answers:
    """Parsed predictions: counts of predicted facts. The facts themselves are not stored.

    tallies: an array with a row for each pair of a text and a relation that was predicted for it. The five columns are
    the index of the text, the code of the relation, and the numbers of predicted, found and verifiable facts (`Tally`).
    """

    tallies: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 5), dtype=np.int64))
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)


def read_predictions(stream: BinaryIO, file: str, known: ValidationData, limits: ReadLimits | None) -> Answers:
    """Parse predictions. Raises PredictionError for invalid predictions.

    file: the file's name in messages. known: the ids, and the gold facts if they are available. limits: limits on the
    file's size; None: the default ones. A text without a line counts as one without facts, with a warning.
    """
    reader = Reader(file, PREDICTIONS, PredictionError, limits)
    register = AnswerRegister(known.index_of, reader.problems)
    numbers = array("q")
    for line, index in register.answered(reader.blocks(stream)):
        if known.gold is not None:
            for counts in tally(line.facts, known.gold.texts[index], known.gold.relations):
                numbers.append(index)
                numbers.extend(counts)
    reader.problems.raise_if_any()
    tallies = np.array(numbers, dtype=np.int64).reshape(-1, 5)
    return Answers(tallies, reader.n_lines, [*reader.warnings, *register.warnings])
