"""Baselines of metric-correlation: scores that ignore the text, its length, and its word overlap with the reference."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from evaluator.tasks.baselines.base import AuditUse, Baseline, BaselineInput, Line
from evaluator.tasks.items.scores import constant, random_scores, score_lines


def _length(data: BaselineInput) -> Iterable[Line] | None:
    if not all("generated" in line for line in data.inputs):
        return None
    return score_lines(data, lambda line: len(line["generated"].split()))


def _overlap(data: BaselineInput) -> Iterable[Line] | None:
    if not all("generated" in line and "reference" in line for line in data.inputs):
        return None
    return score_lines(data, lambda line: _shared(line["generated"].lower(), line["reference"].lower()))


def _shared(text: str, other: str) -> float:
    words = text.split()
    both = Counter(words) & Counter(other.split())
    return both.total() / len(words) if words else 0.0


BASELINES = (
    Baseline("constant", "the same score for every text", constant, "spearman", 0.0),
    Baseline("random", "a random score for each text", random_scores, "spearman", 0.0),
    Baseline(
        "length",
        "the number of words of the text",
        _length,
        "spearman",
        0.0,
        needs="texts in the inputs",
        audit=AuditUse(shown=("pearson", "kendall")),
    ),
    Baseline(
        "overlap",
        "the share of the text's words that are in its reference",
        _overlap,
        "spearman",
        0.0,
        needs="texts and references in the inputs",
    ),
)
