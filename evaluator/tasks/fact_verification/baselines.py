"""Baselines of fact-verification: the majority label, random labels, and labels predicted from the claim alone or from
the evidence sentence alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from evaluator.tasks.baselines.base import AuditUse, Baseline, BaselineInput, Line
from evaluator.tasks.baselines.labels import FOLDS, cross_validated, learnt_from, majority_share, most_frequent
from evaluator.tasks.fact_verification.layout import LABELS


def _majority(data: BaselineInput) -> Iterable[Line]:
    labels = _labels(data)
    if not labels and data.own is not None:
        labels = [str(label) for label in data.own.answers]
    return _lines([line["id"] for line in data.inputs], [most_frequent(labels, LABELS)] * len(data.inputs))


def _random(data: BaselineInput) -> Iterable[Line]:
    rng = data.rng("random")
    labels = sorted(set(_labels(data))) or LABELS
    return _lines([line["id"] for line in data.inputs], [rng.choice(labels) for _ in data.inputs])


def _claim_only(data: BaselineInput) -> Iterable[Line] | None:
    known = [claim for train in data.train_splits for claim in train.labelled_texts]
    own = data.own.labelled_texts if data.own is not None else ()
    return _bayes(data, known, [line["claim"] for line in data.inputs], own)


def _evidence_only(data: BaselineInput) -> Iterable[Line] | None:
    known = [text for train in data.train_splits for text in train.evidence]
    own = data.own.evidence if data.own is not None else ()
    return _bayes(data, known, [line.get("evidence_text") for line in data.inputs], own)


def _bayes(
    data: BaselineInput, known: Sequence[str | None], texts: Sequence[str | None], own: Sequence[str | None]
) -> Iterable[Line] | None:
    if None in known or None in texts or not texts:
        return None
    if known:
        answers = learnt_from([text or "" for text in known], _labels(data), [text or "" for text in texts])
        return _lines([line["id"] for line in data.inputs], answers)
    if data.own is None:
        return None
    labels = [str(label) for label in data.own.answers]
    return _lines(data.own.ids, cross_validated(data.own.groups, [text or "" for text in own], labels))


def _labels(data: BaselineInput) -> list[str]:
    return [str(label) for train in data.train_splits for label in train.answers]


def _lines(ids: Sequence[str | int], labels: Sequence[str]) -> Iterable[Line]:
    for identifier, label in zip(ids, labels, strict=True):
        yield {"id": identifier, "predicted_label": label, "predicted_evidence": []}


BASELINES = (
    Baseline(
        "majority",
        "the most frequent label of public gold for every claim; SUPPORTS without public gold",
        _majority,
        "accuracy",
        audit=AuditUse(shown=("fever_score",), untrained="the most frequent label of the split for every claim"),
    ),
    Baseline(
        "random", "a random label for each claim, all labels equally likely", _random, "accuracy", reference="majority"
    ),
    Baseline(
        "claim-only",
        "naive Bayes over words and bigrams of the claim, trained on public gold",
        _claim_only,
        "accuracy",
        reference="majority",
        needs="public gold to train on",
        audit=AuditUse(
            majority_share,
            ("fever_score",),
            f"naive Bayes over words and bigrams of the claim, trained on the split's other groups ({FOLDS} folds)",
        ),
    ),
    Baseline(
        "evidence-only",
        "naive Bayes over the given sentence, without the claim",
        _evidence_only,
        "accuracy",
        reference="majority",
        needs="public gold with sentences, and sentences in the inputs",
        audit=AuditUse(
            majority_share,
            ("fever_score",),
            f"naive Bayes over words and bigrams of the sentence, trained on the split's other groups ({FOLDS} folds)",
        ),
    ),
)
