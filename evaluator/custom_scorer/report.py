"""Reader of a custom scorer's output: scores.json and, if present, outcomes.jsonl."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

from evaluator.custom_scorer.outcomes_file import read_outcomes, with_intervals, without_intervals
from evaluator.custom_scorer.scores_file import Expected, Scores, read_scores
from evaluator.outcomes.table import Outcomes
from evaluator.scoring.score import Score

MOST_BYTES = 200_000_000


@dataclass(frozen=True)
class Read:
    """The output of a custom scorer.

    content: scores.json; scores: the scores as boards show them; table: the per-unit outcomes, None if the scorer wrote
    none; measures: the names of the measures that have per-unit values.
    """

    content: Scores
    scores: list[Score]
    table: Outcomes | None
    measures: list[str]


def read(files: Mapping[str, BinaryIO], expected: Expected, *, resamples: int, seed: int) -> Read:
    """Read and check the output files of a custom scorer. Raises ScorerError if one is invalid.

    files: the open files: `scores`, and `outcomes` if the scorer wrote outcomes.jsonl. expected: the requirements on
    both, such as the declared measures. resamples, seed: those of the bootstrap for the confidence intervals.
    """
    content = read_scores(files["scores"], expected)
    if "outcomes" not in files:
        return Read(content, without_intervals(content), None, [])
    table = read_outcomes(files["outcomes"], expected, content, MOST_BYTES)
    scores, measures = with_intervals(content, table, expected, resamples=resamples, seed=seed)
    return Read(content, scores, table, measures)
