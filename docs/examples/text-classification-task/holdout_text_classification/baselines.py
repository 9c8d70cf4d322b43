"""Baselines: the most frequent class, a random class, and a bag of words."""

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


def _majority(data: BaselineInput) -> Iterable[Line] | None:
    labels = known_labels(data) or ([str(label) for label in data.own.answers] if data.own is not None else [])
    return _lines(labels_of(data, [most_frequent(labels, sorted(set(labels)))] * len(data.inputs))) if labels else None


def _random(data: BaselineInput) -> Iterable[Line] | None:
    classes, rng = sorted(set(known_labels(data))), data.rng("random")
    return _lines(labels_of(data, [rng.choice(classes) for _ in data.inputs])) if classes else None


def _bag_of_words(data: BaselineInput) -> Iterable[Line] | None:
    known = [text for train in data.train_splits for text in train.labelled_texts]
    own = data.own.labelled_texts if data.own is not None else ()
    labels = labels_from_words(data, known=known, texts=[line["text"] for line in data.inputs], own=own)
    return None if labels is None else _lines(labels)


def _lines(labels: Iterable[tuple[Id, str]]) -> Iterable[Line]:
    return ({"id": name, "label": label} for name, label in labels)


_NEEDS = "public gold to learn from"
BASELINES = (
    Baseline(
        "majority",
        "the most frequent class of public gold for every text",
        _majority,
        "accuracy",
        needs=_NEEDS,
        audit=AuditUse(shown=("macro_f1",), untrained="the most frequent class of the split for every text"),
    ),
    Baseline("random", "a random class for each text", _random, "accuracy", reference="majority", needs=_NEEDS),
    Baseline(
        "bag-of-words",
        "naive Bayes over words and bigrams, trained on public gold",
        _bag_of_words,
        "accuracy",
        reference="majority",
        needs=_NEEDS,
        audit=AuditUse(
            majority_share,
            ("macro_f1",),
            f"naive Bayes over words and bigrams, trained on the split's other groups ({FOLDS} folds)",
            "nothing, if words are the point of the task; otherwise balance them over the classes",
        ),
    ),
)
