"""Baselines whose scores carry no information, and a helper that writes lines of predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from evaluator.tasks.baselines.base import BaselineInput, Line


def constant(data: BaselineInput) -> Iterable[Line]:
    return score_lines(data, lambda line: 0.5)


def random_scores(data: BaselineInput) -> Iterable[Line]:
    rng = data.rng("random")
    return score_lines(data, lambda line: rng.random())


def score_lines(data: BaselineInput, score: Callable[[Line], float]) -> Iterable[Line]:
    for line in data.inputs:
        yield {"id": line["id"], "score": float(score(line))}
