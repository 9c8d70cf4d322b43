"""Labels that are answered without solving the task: the most frequent one, and what words alone give away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from evaluator.statistics.random_streams import draws
from evaluator.tasks.audit.split import Split
from evaluator.tasks.baselines.naive_bayes import Words

FOLDS = 5


def most_frequent(labels: Sequence[str], order: Sequence[str]) -> str:
    """The most frequent label; of labels that are as frequent, and without any, the first in `order`."""
    count = Counter(labels)
    return max(order, key=lambda label: count[label])


def majority_share(split: Split) -> float:
    """The accuracy of the best constant answer."""
    return max(Counter(split.answers).values()) / len(split)


def learnt_from(known: Sequence[str], labels: Sequence[str], texts: Sequence[str]) -> list[str]:
    """The label of each of `texts` by naive Bayes over words and bigrams of `known`, which has `labels`."""
    words = Words([*known, *texts], [*labels, *([labels[0]] * len(texts))])
    learnt = np.arange(len(known) + len(texts)) < len(known)
    return [words.names[code] for code in words.predicted(learnt)[len(known) :].tolist()]


def cross_validated(groups: Sequence[Hashable], texts: Sequence[str], labels: Sequence[str]) -> list[str]:
    """The label of each text by naive Bayes over the other groups' texts, in FOLDS folds."""
    names = list(dict.fromkeys(groups))
    draws(0, "folds").shuffle(names)
    fold = {name: place % FOLDS for place, name in enumerate(names)}
    folds = np.array([fold[group] for group in groups])
    words = Words(texts, labels)
    found = np.zeros(len(texts), dtype=np.int64)
    for number in range(min(FOLDS, len(names))):
        asked = folds == number
        found[asked] = words.predicted(asked if asked.all() else ~asked)[asked]
    return [words.names[code] for code in found.tolist()]
