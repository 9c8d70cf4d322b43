"""Label baselines that do not solve the task: the most frequent label, and labels predicted from words alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

import numpy as np

from evaluator.jsonl.ids import Id
from evaluator.statistics.random_streams import random_stream
from evaluator.tasks.audit.split import Split
from evaluator.tasks.baselines.base import BaselineInput
from evaluator.tasks.baselines.naive_bayes import CountedTexts

FOLDS = 5


def most_frequent(labels: Sequence[str], order: Sequence[str]) -> str:
    """Return the most frequent of `labels`; of equally frequent ones, and without labels, the first in `order`.

    order: all labels.
    """
    count = Counter(labels)
    return max(order, key=lambda label: count[label])


def majority_share(split: Split) -> float:
    """Return the accuracy of a system that predicts the split's most frequent answer for every line."""
    return max(Counter(split.answers).values()) / len(split)


def known_labels(data: BaselineInput) -> list[str]:
    """Return the labels of public gold, split by split."""
    return [str(label) for train in data.train_splits for label in train.answers]


def labels_of(data: BaselineInput, labels: Iterable[str]) -> Iterable[tuple[Id, str]]:
    """Return (id, label) of each line of the inputs. labels: one per line."""
    return zip((line["id"] for line in data.inputs), labels, strict=True)


def labels_from_words(
    data: BaselineInput, *, known: Sequence[str | None], texts: Sequence[str | None], own: Sequence[str | None]
) -> Iterable[tuple[Id, str]] | None:
    """Return (id, label) of each line, predicted from words and bigrams; None if a line has no text.

    known: the texts of public gold. Without any, in an audit, labels are predicted by cross-validation on the audited
    split. texts: the text of each line of the inputs. own: the texts of the audited split.
    """
    if None in known or None in texts or not texts:
        return None
    if known:
        return labels_of(
            data,
            _learnt_from([text or "" for text in known], known_labels(data), [text or "" for text in texts]),
        )
    if data.own is None:
        return None
    labels = [str(label) for label in data.own.answers]
    predicted = _cross_validated(data.own.groups, [text or "" for text in own], labels)
    return zip(data.own.ids, predicted, strict=True)


def _learnt_from(known: Sequence[str], labels: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Predict the label of each of `texts` by naive Bayes over words and bigrams.

    The model is trained on the texts `known`, whose labels are `labels`.
    """
    words = CountedTexts([*known, *texts], [*labels, *([labels[0]] * len(texts))])
    learnt = np.arange(len(known) + len(texts)) < len(known)
    return [words.names[code] for code in words.predicted(learnt)[len(known) :].tolist()]


def _cross_validated(groups: Sequence[Hashable], texts: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Predict the label of each text by naive Bayes in a cross-validation with FOLDS folds of whole groups.

    groups, labels: one per text. A text's label is predicted from the texts of the other folds. If there is one group,
    the model is trained and applied on all texts.
    """
    names = list(dict.fromkeys(groups))
    random_stream(0, "folds").shuffle(names)
    fold = {name: index % FOLDS for index, name in enumerate(names)}
    folds = np.array([fold[group] for group in groups])
    words = CountedTexts(texts, labels)
    predicted = np.zeros(len(texts), dtype=np.int64)
    for fold_index in range(min(FOLDS, len(names))):
        is_test = folds == fold_index
        predicted[is_test] = words.predicted(is_test if is_test.all() else ~is_test)[is_test]
    return [words.names[code] for code in predicted.tolist()]
