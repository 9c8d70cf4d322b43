"""Reads the predictions of link-prediction: a ranking of mentions for a question."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from evaluator.errors import PredictionError
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import AnswerRegister
from evaluator.jsonl.reader import Reader
from evaluator.tasks.link_prediction.gold import Known, Mentions
from evaluator.tasks.link_prediction.layout import MAX_RANKED, PREDICTIONS

Ranks = npt.NDArray[np.int64]


@dataclass
class Answers:
    """What the rankings say of gold's mentions, in the order of the gold; the rankings themselves are not kept.

    raw: the place, from 1, of the first answer among the ranking's distinct mentions; 0: it holds none.
    filtered_before: how many of the mentions before that place are other known answers.
    """

    raw: Ranks
    filtered_before: Ranks
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)


def unanswered(n_questions: int) -> Answers:
    return Answers(np.zeros(n_questions, dtype=np.int64), np.zeros(n_questions, dtype=np.int64))


def read_predictions(stream: BinaryIO, file: str, known: Known, limits: ReadLimits | None) -> Answers:
    """Raises PredictionError. A question that is left out counts as nothing found, with a warning."""
    reader = Reader(file, PREDICTIONS, PredictionError, limits)
    register = AnswerRegister(known.places, reader.problems)
    found = [(0, 0)] * len(known.places)
    for number, line in reader.records(stream):
        place = register.place(line.id, number)
        if len(line.ranking) > MAX_RANKED:
            reader.problems.add(
                number, "ranking is too long", f"{len(line.ranking)} mentions", f"at most {MAX_RANKED} mentions"
            )
        elif place is not None and known.mentions is not None:
            found[place] = locate(line.ranking, *known.mentions[place])
    reader.problems.raise_if_any()
    raw, before = np.array(found, dtype=np.int64).T
    return Answers(raw, before, reader.n_lines, [*reader.warnings, *register.warnings])


def locate(ranking: Sequence[str], answers: Mentions, filtered: Mentions) -> tuple[int, int]:
    """(raw, filtered_before) as Answers holds them. A mention that is both an answer and filtered is an answer."""
    wanted = frozenset(answers)
    if wanted.isdisjoint(ranking):
        return 0, 0
    end = next(place for place, mention in enumerate(ranking) if mention in wanted)
    before = set(ranking[:end])
    return len(before) + 1, len(before.intersection(filtered))
