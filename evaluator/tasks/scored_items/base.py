"""Base class of the tasks in which a system gives each id one finite score: fact-checking and metric-correlation."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, BinaryIO, ClassVar, Protocol, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.reader import Format
from evaluator.tasks.answers import ComparableAnswers, by_score
from evaluator.tasks.base import Facts, Options, ReadFile, Task
from evaluator.tasks.gold_fields import Line
from evaluator.tasks.scored_items.files import IdIndex, Named, Scores, no_scores, read_ids, read_scores, salted_order


class GoldWithIds(ReadFile, Protocol):
    @property
    def ids(self) -> IdIndex: ...


Gold = TypeVar("Gold", bound=GoldWithIds)


class ScoreTask(Task[Gold, IdIndex, Scores]):
    """Base class of a task in which a system gives each id one score.

    inputs_format: the line format of the public inputs.
    """

    inputs_format: ClassVar[Format[Any]]

    @abstractmethod
    def inputs(self, gold: Gold) -> Sequence[Named]:
        """Return the lines of the public inputs, in gold order."""

    def read_inputs(
        self, stream: BinaryIO, file: str, options: Options, facts: Facts, limits: ReadLimits | None = None
    ) -> IdIndex:
        return read_ids(stream, file, self.inputs_format, limits)

    def validation_data(self, gold: Gold) -> IdIndex:
        return gold.ids

    def read_predictions(
        self, stream: BinaryIO, file: str, known: IdIndex, options: Options, limits: ReadLimits | None = None
    ) -> Scores:
        return read_scores(stream, file, known, limits)

    def hints(self, answers: Scores) -> list[str]:
        return answers.hints

    def empty_answers(self, gold: Gold) -> Scores:
        return no_scores(len(gold.ids))

    @abstractmethod
    def high(self, gold: Gold) -> npt.NDArray[np.bool_]:
        """Return a mask over the gold lines: True for those that should score above the rest, such as true claims."""

    def comparable_answers(self, gold: Gold, stream: BinaryIO, file: str, options: Options) -> ComparableAnswers:
        scores = self.read_predictions(stream, file, self.validation_data(gold), options)
        return by_score(scores.values, self.high(gold))

    def sample_answer(self, line: Line, facts: Facts) -> Line:
        return {"id": line["id"], "score": 0.5}

    def facts(self, gold: Gold) -> dict[str, Any]:
        return {}

    def public_inputs(self, gold: Gold) -> bytes:
        """Return the inputs in an order that depends on the ids alone, since gold may be sorted by its answers."""
        return msgspec.json.Encoder().encode_lines(salted_order(self.inputs(gold), self.name))
