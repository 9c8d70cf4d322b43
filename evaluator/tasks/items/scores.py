"""Base class of the tasks in which a system gives each id one finite score: fact-checking and metric-correlation."""

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic, TypeVar

import msgspec
import numpy as np
import numpy.typing as npt

from evaluator.jsonl.ids import Id
from evaluator.tasks.answers import ComparableAnswers, by_score
from evaluator.tasks.base import Facts
from evaluator.tasks.baselines.base import BaselineInput
from evaluator.tasks.baselines.base import Line as AnswerLine
from evaluator.tasks.gold_fields import Line
from evaluator.tasks.items.base import ItemTask
from evaluator.tasks.items.files import ItemAnswers, ItemGold, KnownItems, format_of

_FEW = 10  # so many equal scores are no chance


class ScoreLine(msgspec.Struct, gc=False):
    """A line of predictions: the score that a system gives to one id."""

    id: str | int
    score: float


class Scores(ItemAnswers):
    """Parsed predictions of one score per id. values: one score per gold line, in gold order; all equal if new."""

    def __init__(self, file: str, known: KnownItems) -> None:
        super().__init__(file, known)
        self.values = np.zeros(len(known.index_of))

    def add(self, lines: Sequence[ScoreLine], indices: Any, first: int) -> None:
        self.values[indices] = [line.score for line in lines]

    def finish(self) -> list[str]:
        """Return a hint if all of several scores are equal, as small ones are that a program wrote as 0.0."""
        values = self.values
        if len(values) < _FEW or (values != values[0]).any():
            return []
        return [f"{self.file}: all {len(values)} scores are {values[0]:g}, so that no item ranks above another"]


PREDICTIONS = format_of(ScoreLine)
Gold = TypeVar("Gold", bound=ItemGold)


class ScoreTask(ItemTask[Gold, Scores], Generic[Gold]):
    """Base class of a task in which a system gives each id one score."""

    predictions_layout = PREDICTIONS
    answers_type = Scores

    @abstractmethod
    def high(self, gold: Gold) -> npt.NDArray[np.bool_]:
        """Return a mask over the gold lines: True for those that should score above the rest, such as true claims."""

    def comparable(self, gold: Gold, answers: Scores) -> ComparableAnswers:
        return by_score(answers.values, self.high(gold))

    def sample(self, line: Line, facts: Facts) -> Line:
        return {"score": 0.5}

    def order_key(self, value: Id) -> bytes:
        return hashlib.blake2b(repr(value).encode(), key=self.name.encode()).digest()


def constant(data: BaselineInput) -> Iterable[AnswerLine]:
    return score_lines(data, lambda line: 0.5)


def random_scores(data: BaselineInput) -> Iterable[AnswerLine]:
    rng = data.rng("random")
    return score_lines(data, lambda line: rng.random())


def score_lines(data: BaselineInput, score: Callable[[AnswerLine], float]) -> Iterable[AnswerLine]:
    """Yield lines of predictions. score: returns the score of a line of the inputs."""
    for line in data.inputs:
        yield {"id": line["id"], "score": float(score(line))}
