"""Baselines of fact-verification: the majority label, random labels, and labels predicted from the claim alone or from
the evidence sentence alone.
"""

from __future__ import annotations

from collections.abc import Iterable

from evaluator.jsonl.ids import Id
from evaluator.tasks.baselines.base import AuditUse, Baseline, BaselineInput, Line
from evaluator.tasks.baselines.labels import (
    FOLDS,
    known_labels,
    labels_from_words,
    labels_of,
    majority_share,
    most_frequent,
)
from evaluator.tasks.fact_verification.layout import LABELS


def _majority(data: BaselineInput) -> Iterable[Line]:
    labels = known_labels(data)
    if not labels and data.own is not None:
        labels = [str(label) for label in data.own.answers]
    return _lines(labels_of(data, [most_frequent(labels, LABELS)] * len(data.inputs)))


def _random(data: BaselineInput) -> Iterable[Line]:
    rng = data.rng("random")
    labels = sorted(set(known_labels(data))) or LABELS
    return _lines(labels_of(data, [rng.choice(labels) for _ in data.inputs]))


def _claim_only(data: BaselineInput) -> Iterable[Line] | None:
    known = [claim for train in data.train_splits for claim in train.labelled_texts]
    own = data.own.labelled_texts if data.own is not None else ()
    labels = labels_from_words(data, known=known, texts=[line["claim"] for line in data.inputs], own=own)
    return None if labels is None else _lines(labels)


def _evidence_only(data: BaselineInput) -> Iterable[Line] | None:
    known = [text for train in data.train_splits for text in train.evidence]
    own = data.own.evidence if data.own is not None else ()
    labels = labels_from_words(data, known=known, texts=[line.get("evidence_text") for line in data.inputs], own=own)
    return None if labels is None else _lines(labels)


def _lines(labels: Iterable[tuple[Id, str]]) -> Iterable[Line]:
    for identifier, label in labels:
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
