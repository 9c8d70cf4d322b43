"""Reads the two output files of a custom scorer into one result."""

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
    """The scorer's output. scores: as published; table: per-unit outcomes, None if absent; given: measures in it."""

    content: Scores
    scores: list[Score]
    table: Outcomes | None
    measures: list[str]


def read(files: Mapping[str, BinaryIO], expected: Expected, *, resamples: int, seed: int) -> Read:
    """Return the checked output. files: scores, and outcomes if the scorer wrote any. Raises ScorerError."""
    content = read_scores(files["scores"], expected)
    if "outcomes" not in files:
        return Read(content, without_intervals(content), None, [])
    table = read_outcomes(files["outcomes"], expected, content, MOST_BYTES)
    scores, measures = with_intervals(content, table, expected, resamples=resamples, seed=seed)
    return Read(content, scores, table, measures)
