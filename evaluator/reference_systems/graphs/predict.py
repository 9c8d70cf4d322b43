"""Predictions of a graph system: scores of claims for fact-checking, rankings of entities for link-prediction.

Questions are answered in batches, so that memory grows with the graph and not with the number of questions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt

from evaluator.errors import InputsError, shown
from evaluator.jsonl.ids import IdRegister
from evaluator.jsonl.reader import Reader
from evaluator.progress import Steps
from evaluator.reference_systems.base import Job, Line, opened
from evaluator.reference_systems.files import INPUTS
from evaluator.reference_systems.graphs.graph import Ints
from evaluator.tasks.fact_checking.layout import INPUTS as CLAIMS
from evaluator.tasks.fact_checking.layout import Claim
from evaluator.tasks.link_prediction.baselines import MOST_RANKED
from evaluator.tasks.link_prediction.layout import INPUTS as QUESTIONS
from evaluator.tasks.link_prediction.layout import MAX_RANKED, Question, side

FACT_CHECKING, LINK_PREDICTION = "fact-checking", "link-prediction"
TASKS = (FACT_CHECKING, LINK_PREDICTION)

Scores = npt.NDArray[np.floating]
_BATCH_SCORES = 4_000_000
"""The number of scores in a batch of questions."""


class Ranker(Protocol):
    """A trained graph system, which scores possible answers.

    entities: the names of all possible answers, in the order in which equal scores are ranked.
    """

    @property
    def entities(self) -> Sequence[str]: ...

    def score_answers(self, questions: Sequence[Question]) -> Scores:
        """Return each entity's score as an answer to each question: shape (questions, entities).

        The score is -inf if the entity is not a possible answer.
        """
        ...


class Scorer(Ranker, Protocol):
    """A trained graph system, which scores claims and possible answers."""

    def score_claims(self, claims: Sequence[Claim]) -> Scores:
        """Return one score per claim; higher means more likely true."""
        ...


def predict(job: Job, scorer: Scorer) -> Iterator[Line]:
    """Yield the lines of predictions of a graph system for the job's inputs. Raises InputsError for invalid inputs."""
    if job.task == FACT_CHECKING:
        claims = [claim for path in job.paths(INPUTS) for claim in read_claims(path)]
        size = _batch_size(1)
        for first in range(0, len(claims), size):
            batch = claims[first : first + size]
            for claim, score in zip(batch, scorer.score_claims(batch).tolist(), strict=True):
                yield {"id": claim.id, "score": float(score)}
        return
    yield from rank([question for path in job.paths(INPUTS) for question in read_questions(path)], scorer)


def rank(questions: Sequence[Question], ranker: Ranker) -> Iterator[Line]:
    """Yield the lines of predictions of link-prediction, in the order of the questions."""
    most = max(1, min(MAX_RANKED, MOST_RANKED // max(1, len(questions))))
    size = _batch_size(len(ranker.entities))
    steps = Steps(len(questions))
    for first in range(0, len(questions), size):
        asked = questions[first : first + size]
        for question, scores in zip(asked, ranker.score_answers(asked), strict=True):
            yield {"id": question.id, "ranking": [ranker.entities[index] for index in best(scores, most)]}
        steps.add(len(asked))


def best(scores: Scores, most: int) -> Ints:
    """Return the indices of the `most` highest scores, best first; without scores that are -inf.

    Equal scores are in the order of their indices.
    """
    indices = np.flatnonzero(scores > -np.inf)
    if len(indices) > most:
        lowest = np.partition(scores[indices], len(indices) - most)[len(indices) - most]
        above, equal = indices[scores[indices] > lowest], indices[scores[indices] == lowest]
        indices = np.sort(np.concatenate([above, equal[: most - len(above)]]))
    return indices[np.argsort(-scores[indices], kind="stable")]


def _batch_size(entities: int) -> int:
    return max(1, _BATCH_SCORES // max(1, entities))


def read_claims(path: Path) -> list[Claim]:
    """Read the inputs of fact-checking. Raises InputsError for invalid lines, UsageError for an unreadable file."""
    reader = Reader(str(path), CLAIMS, InputsError)
    register = IdRegister(reader.problems)
    with opened(path) as stream:
        claims = [line for number, line in reader.records(stream) if register.add(line.id, number)]
    reader.problems.raise_if_any()
    return claims


def read_questions(path: Path) -> list[Question]:
    """Read the inputs of link-prediction. Raises InputsError for invalid lines, UsageError for an unreadable file."""
    reader = Reader(str(path), QUESTIONS, InputsError)
    register = IdRegister(reader.problems)
    questions = []
    with opened(path) as stream:
        for number, line in reader.records(stream):
            if side(line.question) is None:
                expected = '["...", "...", "?"] or ["?", "...", "..."]'
                found = shown(" ".join(line.question))
                reader.problems.add(number, 'question does not have "?" as one of subject and object', found, expected)
            if register.add(line.id, number):
                questions.append(line)
    reader.problems.raise_if_any()
    return questions
