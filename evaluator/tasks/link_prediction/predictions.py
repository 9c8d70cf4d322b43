"""Parser of link-prediction predictions: a ranking of mentions per question."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from evaluator.errors import PredictionError
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.ids import AnswerRegister
from evaluator.jsonl.reader import Reader
from evaluator.tasks.link_prediction.gold import Mentions, ValidationData
from evaluator.tasks.link_prediction.layout import MAX_RANKED, PREDICTIONS
from evaluator.tasks.spelling import NAMES, Spellings

Ranks = npt.NDArray[np.int64]


@dataclass
class Answers:
    """Parsed predictions: the rank of the answer in each ranking, in gold order. The rankings are not stored.

    raw: the rank of the first gold answer among the ranking's distinct mentions, from 1; 0: the ranking has no answer.
    filtered_before: the number of distinct mentions before this rank that are other known answers.
    """

    raw: Ranks
    filtered_before: Ranks
    n_lines: int = 0
    warnings: list[str] = field(default_factory=list)
    hints: list[str] = field(default_factory=list)


def empty_answers(n_questions: int) -> Answers:
    return Answers(np.zeros(n_questions, dtype=np.int64), np.zeros(n_questions, dtype=np.int64))


def read_predictions(stream: BinaryIO, file: str, known: ValidationData, limits: ReadLimits | None) -> Answers:
    """Parse predictions. Raises PredictionError for invalid predictions.

    file: the file's name in messages. limits: limits on its size; None: the default ones. A question without a line
    counts as one with an empty ranking, with a warning.
    """
    reader = Reader(file, PREDICTIONS, PredictionError, limits)
    register = AnswerRegister(known.index_of, reader.problems)
    ranks = np.zeros((len(known.index_of), 2), dtype=np.int64)
    mentions = Spellings(file, "first mentions", NAMES, known.usual)
    for block in reader.blocks(stream):
        records = block.records
        for number, line in enumerate(records or (), start=block.first):
            if mentions.is_full:
                break
            if line.ranking:
                mentions.add(line.ranking[0], number)
        if records is not None and max(len(line.ranking) for line in records) <= MAX_RANKED:
            indices = register.answer_all(records, block.first)
            if indices is not None:
                if known.mentions is not None:
                    gold = map(known.mentions.__getitem__, indices.tolist())
                    ranks[indices] = [locate(line.ranking, *both) for line, both in zip(records, gold, strict=True)]
                continue
        for number, line in block.lines():
            index = register.index_of(line.id, number)
            if len(line.ranking) > MAX_RANKED:
                reader.problems.add(
                    number, "ranking is too long", f"{len(line.ranking)} mentions", f"at most {MAX_RANKED} mentions"
                )
            elif index is not None and known.mentions is not None:
                ranks[index] = locate(line.ranking, *known.mentions[index])
    reader.problems.raise_if_any()
    return Answers(ranks[:, 0], ranks[:, 1], reader.n_lines, [*reader.warnings, *register.warnings], mentions.hints())


def locate(ranking: Sequence[str], answers: Mentions, filtered: Mentions) -> tuple[int, int]:
    """Return (rank of the first answer, number of mentions before it that are other known answers) for one ranking.

    answers, filtered: the gold's answers and other known answers. A mention in both counts as an answer. The rank
    counts distinct mentions from 1; it is 0 if the ranking has no answer.
    """
    answer_set = frozenset(answers)
    if answer_set.isdisjoint(ranking):
        return 0, 0
    end = next(index for index, mention in enumerate(ranking) if mention in answer_set)
    before = set(ranking[:end])
    return len(before) + 1, len(before.intersection(filtered))
