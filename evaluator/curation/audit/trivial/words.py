"""Naive Bayes over words and bigrams (multinomial, add-one), in NumPy: a system that sees one text.

As scikit-learn's MultinomialNB over counts, with which a test compares it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evaluator.curation.vocabulary import occurrences
from evaluator.outcomes import Numbers


def predicted(texts: Sequence[str], labels: Sequence[str], asked: Sequence[str]) -> list[str]:
    """The most probable label of each text that is asked about; of equals the first in the alphabet."""
    names = sorted(set(labels))
    scores = log_probabilities(texts, labels, asked)
    return [names[place] for place in scores.argmax(axis=1).tolist()]


def log_probabilities(texts: Sequence[str], labels: Sequence[str], asked: Sequence[str]) -> Numbers:
    """Texts asked about x labels (by the alphabet), up to a constant a text. Words that training lacks are left out."""
    names = sorted(set(labels))
    number = {name: place for place, name in enumerate(names)}
    label = np.array([number[name] for name in labels], dtype=np.int64)
    scores = np.tile(np.log(np.bincount(label, minlength=len(names)) / len(label)), (len(asked), 1))
    features = [occurrences([*texts, *asked], n=n) for n in (1, 2)]
    known, totals = [], np.zeros(len(names))
    for found in features:
        train = found.text < len(texts)
        table = np.bincount(
            found.gram[train] * len(names) + label[found.text[train]], minlength=found.n_grams * len(names)
        ).reshape(found.n_grams, len(names))
        known.append(table)
        totals += table.sum(axis=0)
    size = sum(int(np.count_nonzero(table.sum(axis=1))) for table in known)
    for found, table in zip(features, known, strict=True):
        weights = np.log(table + 1) - np.log(totals + size)
        mine = (found.text >= len(texts)) & (table.sum(axis=1) > 0)[found.gram]
        np.add.at(scores, found.text[mine] - len(texts), weights[found.gram[mine]])
    return scores
