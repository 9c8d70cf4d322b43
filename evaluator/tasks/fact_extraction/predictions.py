"""Parser of fact-extraction predictions: a list of facts per text."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from evaluator.errors import PredictionError, shown
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import AnswerRegister
from evaluator.jsonl.reader import Reader
from evaluator.tasks.fact_extraction.gold import ValidationData
from evaluator.tasks.fact_extraction.layout import PREDICTIONS, Fact
from evaluator.tasks.fact_extraction.tallies import tally
from evaluator.tasks.spelling import NAMES, Spellings, fold, traits_of


@dataclass
class Answers:
    """Parsed predictions: counts of predicted facts. The facts themselves are not stored.

    tallies: an array with a row for each pair of a text and a relation that was predicted for it. The five columns are
    the index of the text, the code of the relation, and the numbers of predicted, found and verifiable facts (`Tally`).
    """

    tallies: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 5), dtype=np.int64))
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)


def read_predictions(stream: BinaryIO, file: str, known: ValidationData, limits: ReadLimits | None) -> Answers:
    """Parse predictions. Raises PredictionError for invalid predictions.

    file: the file's name in messages. known: the ids, and the gold facts if they are available. limits: limits on the
    file's size; None: the default ones. A text without a line counts as one without facts, with a warning.
    """
    reader = Reader(file, PREDICTIONS, PredictionError, limits)
    register = AnswerRegister(known.index_of, reader.problems)
    numbers = array("q")
    spellings = _FactSpellings(file, known.subjects)
    for line, index in register.answered(reader.blocks(stream)):
        if not spellings.is_full:
            spellings.add(line.facts, index, register.line_of(index))
        if known.gold is not None:
            for counts in tally(line.facts, known.gold.texts[index], known.gold.relations):
                numbers.append(index)
                numbers.extend(counts)
    reader.problems.raise_if_any()
    tallies = np.array(numbers, dtype=np.int64).reshape(-1, 5)
    return Answers(tallies, reader.n_lines, [*reader.warnings, *register.warnings], spellings.hints())


class _FactSpellings:
    """Names in the first predicted facts, compared with the subjects of the inputs."""

    def __init__(self, file: str, subjects: Sequence[str | None]) -> None:
        self._file = file
        self._subjects = subjects
        usual = traits_of(subject for subject in subjects if subject is not None)
        self._names = Spellings(file, "subjects and objects", NAMES, usual)
        self._other = 0
        self._example = ""

    @property
    def is_full(self) -> bool:
        return self._names.is_full

    def add(self, facts: Sequence[Fact], text: int, line: int) -> None:
        """Add the facts of a text. text: its index. line: the number of the line in the predictions."""
        subject = self._subjects[text]
        for predicted, _, obj in facts:
            self._names.add(predicted, line)
            self._names.add(obj, line)
            if subject is not None and predicted != subject and fold(predicted) == fold(subject):
                self._other += 1
                self._example = self._example or f"{shown(predicted)} (line {line}) and {shown(subject)}"

    def hints(self) -> list[str]:
        """Return one sentence for each way in which names seem to be spelled otherwise than in gold."""
        hints = self._names.hints()
        if self._other:
            hints.append(
                f"{self._file}: subjects of {self._other} facts are spelled otherwise than in the inputs, such as "
                f"{self._example}; they are compared character by character"
            )
        return hints
