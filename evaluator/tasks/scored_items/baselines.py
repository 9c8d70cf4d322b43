"""Uninformative scores, and a helper that writes score lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from evaluator.tasks.baselines.base import BaselineInput, Line


def constant(given: BaselineInput) -> Iterable[Line]:
    return score_lines(given, lambda line: 0.5)


def random_scores(given: BaselineInput) -> Iterable[Line]:
    rng = given.draws("random")
    return score_lines(given, lambda line: rng.random())


def score_lines(given: BaselineInput, score: Callable[[Line], float]) -> Iterable[Line]:
    for line in given.inputs:
        yield {"id": line["id"], "score": float(score(line))}
