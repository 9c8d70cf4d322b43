"""Judgements beside gold: of its kind, with its labels, and by annotators who mean the same by them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence

import numpy as np

from evaluator.curation.text_stats.agreement import by_annotator, pairwise
from evaluator.errors import shown
from evaluator.jsonl.ids import Id, listed
from evaluator.outcomes.table import Numbers
from evaluator.tasks.audit.findings import Finding, Severity, percent
from evaluator.tasks.audit.split import AnswerKind, Split
from evaluator.text import counted

_LEAST = 10
_REVERSED = -0.1
_DEVIATIONS = 3
"""Kappa or rank correlation with gold is taken for the contrary where it is this far down, and as many deviations of
chance, which are about one over the root of the number of items."""

Row = tuple[Id, Id, Hashable]


def against_gold(split: Split, rows: Sequence[Row], scores: bool, file: str) -> Iterator[Finding]:
    """rows: item, annotator, value. scores: values are numbers. Tasks without one label or rating a line are passed."""
    if split.answer_kind is AnswerKind.SET:
        return
    if scores == (split.answer_kind is AnswerKind.LABEL):
        found, expected = ("scores", "labels") if scores else ("labels", "scores")
        yield Finding(
            Severity.ERROR,
            "judgements-of-another-kind",
            f"the judgements are {found}, and the gold has {expected}",
            "they cannot be compared with the gold",
            f"give {expected} of this split",
            file,
        )
        return
    answers: dict[Id, Hashable] = dict(zip(split.ids, split.secrets[0].values, strict=True))
    if not scores:
        rows = [(name, annotator, str(value).lower()) for name, annotator, value in rows]
        answers = {name: str(value).lower() for name, value in answers.items()}
        yield from _unknown(split, rows, file)
    for annotator, judged in by_annotator(rows).items():
        common = [name for name in judged if name in answers]
        pairs = [judged[name] for name in common], [answers[name] for name in common]
        like = _like(*pairs, scores) if len(common) >= _LEAST else 0.0
        if like <= min(_REVERSED, -_DEVIATIONS / math.sqrt(max(len(common), 1))):
            measure = "a rank correlation" if scores else "Cohen's kappa"
            yield Finding(
                Severity.WARNING,
                "annotator-against-gold",
                f"annotator {shown(annotator)} goes against the gold: "
                f"{measure} of {like:.2f} on {counted(len(common), 'item')}",
                "the scale or the labels were probably taken the other way round",
                "ask what was meant; turn the judgements round, or leave them out",
                file,
            )


def _unknown(split: Split, rows: Sequence[Row], file: str) -> Iterator[Finding]:
    known = {str(value).lower() for value in split.secrets[0].values}
    known |= {label.lower() for label in split.labels}
    strange = [str(value) for _, _, value in rows if str(value) not in known]
    if strange:
        yield Finding(
            Severity.ERROR,
            "judgements-of-unknown-labels",
            f"{len(strange)} judgements ({percent(len(strange) / len(rows))}) have labels that the task does not have: "
            f"{listed(sorted({*strange}))}",
            "they count as disagreement, whatever was meant",
            "write the task's labels",
            file,
        )


def _like(judged: Sequence[Hashable], gold: Sequence[Hashable], scores: bool) -> float:
    if not scores:
        kappa = pairwise(judged, gold).kappa
        return 0.0 if math.isnan(kappa) else kappa
    ranks = [_ranks(np.array(values, dtype=np.float64)) for values in (judged, gold)]
    if not all(values.std() for values in ranks):
        return 0.0
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _ranks(values: Numbers) -> Numbers:
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Numbers = (np.cumsum(count) - (count - 1) / 2)[place]
    return ranks
