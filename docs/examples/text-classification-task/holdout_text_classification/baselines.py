"""Baselines: the most frequent class, a random class, and a bag of words."""

from collections.abc import Iterable, Sequence

from evaluator.tasks.baselines.base import AuditUse, Baseline, BaselineInput, Line
from evaluator.tasks.baselines.labels import FOLDS, cross_validated, learnt_from, majority_share, most_frequent


def _majority(data: BaselineInput) -> Iterable[Line] | None:
    labels = _labels(data) or ([str(label) for label in data.own.answers] if data.own is not None else [])
    return _lines(data, [most_frequent(labels, sorted(set(labels)))] * len(data.inputs)) if labels else None


def _random(data: BaselineInput) -> Iterable[Line] | None:
    classes, rng = sorted(set(_labels(data))), data.rng("random")
    return _lines(data, [rng.choice(classes) for _ in data.inputs]) if classes else None


def _bag_of_words(data: BaselineInput) -> Iterable[Line] | None:
    known = [text for train in data.train_splits for text in train.labelled_texts]
    if known:
        return _lines(data, learnt_from(known, _labels(data), [line["text"] for line in data.inputs]))
    if data.own is None:
        return None
    own = data.own
    answers = cross_validated(own.groups, own.labelled_texts, [str(label) for label in own.answers])
    return ({"id": name, "label": label} for name, label in zip(own.ids, answers, strict=True))


def _labels(data: BaselineInput) -> list[str]:
    return [str(label) for train in data.train_splits for label in train.answers]


def _lines(data: BaselineInput, labels: Sequence[str]) -> Iterable[Line]:
    for line, label in zip(data.inputs, labels, strict=True):
        yield {"id": line["id"], "label": label}


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
