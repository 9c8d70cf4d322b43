"""Checks of judgements against the gold: labels or scores as in the gold, known labels, and no reversed scales."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from evaluator.curation.text_stats.agreement import by_annotator, pairwise
from evaluator.errors import shown
from evaluator.jsonl.ids import Id, format_ids
from evaluator.outcomes.table import Numbers
from evaluator.tasks.audit.findings import Finding, Severity, percent
from evaluator.tasks.audit.split import AnswerKind, Split
from evaluator.text import count_noun

_LEAST = 10
_REVERSED = -0.1
_DEVIATIONS = 3
"""When an annotator counts as reversed: on _LEAST items or more, Cohen's kappa (labels) or Spearman's rank correlation
(scores) with the gold is at most _REVERSED, and at least _DEVIATIONS standard deviations below 0. The standard
deviation is taken as 1 / sqrt(number of items)."""

Row = tuple[Id, Id | None, Hashable]
"""(item id, annotator, value); None: an unnamed annotator."""


def against_gold(split: Split, rows: Sequence[Row], scores: bool, file: str) -> Iterator[Finding]:
    """Yield findings on judgements that do not fit the gold: wrong kind of value, unknown labels, reversed annotators.

    A reversed annotator clearly disagrees with the gold, probably by a reversed scale or swapped labels. Nothing is
    yielded for tasks whose answers are sets. rows: (item id, annotator, value). scores: True if values are numbers,
    False if they are labels. file: the name of the file of judgements.
    """
    if split.answer_kind is AnswerKind.SET:
        return
    if scores == (split.answer_kind is AnswerKind.LABEL):
        kind, expected = ("scores", "labels") if scores else ("labels", "scores")
        yield Finding(
            Severity.ERROR,
            "judgements-of-another-kind",
            f"the judgements are {kind}, and the gold has {expected}",
            "the judgements cannot be compared with the gold",
            f"pass {expected} of this split",
            file,
        )
        return
    answers: dict[Id, Hashable] = dict(zip(split.ids, split.secrets[0].values, strict=True))
    if not scores:
        rows = [(name, annotator, str(value).lower()) for name, annotator, value in rows]
        answers = {name: str(value).lower() for name, value in answers.items()}
        yield from _unknown(split, rows, file)
    named = ((name, annotator, value) for name, annotator, value in rows if annotator is not None)
    for annotator, judged in by_annotator(named).items():
        common = [name for name in judged if name in answers]
        pairs = [judged[name] for name in common], [answers[name] for name in common]
        association = _association(*pairs, scores) if len(common) >= _LEAST else 0.0
        if association <= min(_REVERSED, -_DEVIATIONS / math.sqrt(max(len(common), 1))):
            measure = "a rank correlation" if scores else "Cohen's kappa"
            yield Finding(
                Severity.WARNING,
                "annotator-against-gold",
                f"annotator {shown(annotator)} disagrees with the gold: "
                f"{measure} of {association:.2f} on {count_noun(len(common), 'item')}",
                "the annotator probably reversed the scale or swapped the labels",
                "ask the annotator; reverse the judgements, or leave them out",
                file,
            )


def _unknown(split: Split, rows: Sequence[Row], file: str) -> Iterator[Finding]:
    known = {str(value).lower() for value in split.secrets[0].values}
    known |= {label.lower() for label in split.labels}
    unknown = [str(value) for _, _, value in rows if str(value) not in known]
    if unknown:
        yield Finding(
            Severity.ERROR,
            "judgements-of-unknown-labels",
            f"{len(unknown)} judgements ({percent(len(unknown) / len(rows))}) have labels that the task does not have: "
            f"{format_ids(sorted({*unknown}))}",
            "these judgements count as disagreement, whatever their labels mean",
            "use the task's labels",
            file,
        )


def _association(judged: Sequence[Hashable], gold: Sequence[Hashable], scores: bool) -> float:
    """Return Spearman's rank correlation of scores, or Cohen's kappa of labels; 0 where it is undefined.

    judged, gold: one annotator's values and the gold's values of the same items. scores: True if they are scores, False
    if they are labels.
    """
    if not scores:
        kappa = pairwise(judged, gold).kappa
        return 0.0 if math.isnan(kappa) else kappa
    ranks = [_ranks(np.array(values, dtype=np.float64)) for values in (judged, gold)]
    if not all(values.std() for values in ranks):
        return 0.0
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _ranks(values: Numbers) -> Numbers:
    _, inverse, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Numbers = (np.cumsum(count) - (count - 1) / 2)[inverse]
    return ranks
