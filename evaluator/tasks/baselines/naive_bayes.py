"""Multinomial naive Bayes over words and bigrams (add-one smoothing), in NumPy.

The predictions equal those of scikit-learn's MultinomialNB on counts; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.table import Numbers
from evaluator.statistics.ngrams import occurrences

Marks = npt.NDArray[np.bool_]


class CountedTexts:
    """Texts whose words are counted once. Models can then be trained on any subset and applied to all texts."""

    def __init__(self, texts: Sequence[str], labels: Sequence[str]) -> None:
        """Count the words and bigrams of the texts. labels: one per text; only those of training texts matter."""
        self.names = sorted(set(labels))
        code = {name: index for index, name in enumerate(self.names)}
        self._label = np.array([code[name] for name in labels], dtype=np.int64)
        self._ngrams = [occurrences(texts, n=n) for n in (1, 2)]

    def predicted(self, learnt: Marks) -> npt.NDArray[np.int64]:
        """Return the most probable label of every text, as an index into `names`; of equally probable labels the first.

        learnt: a mask over the texts: True for those to train on.
        """
        return np.asarray(self.log_probabilities(learnt).argmax(axis=1), dtype=np.int64)

    def log_probabilities(self, learnt: Marks) -> Numbers:
        """Return the unnormalized log-probabilities of the labels: an array texts x labels.

        learnt: a mask over the texts: True for those to train on. Words that occur in no training text are ignored.
        """
        n = len(self.names)
        tables, totals, size = [], np.zeros(n), 0
        for grams in self._ngrams:
            in_training = learnt[grams.text]
            pair_codes = grams.gram[in_training] * n + self._label[grams.text[in_training]]
            table = np.bincount(pair_codes, minlength=grams.n_types * n).reshape(grams.n_types, n)
            tables.append(table)
            totals += table.sum(axis=0)
            size += int(np.count_nonzero(table.any(axis=1)))
        with np.errstate(divide="ignore"):  # a label without training texts is never predicted
            scores = np.tile(np.log(np.bincount(self._label[learnt], minlength=n) / learnt.sum()), (len(learnt), 1))
        for grams, table in zip(self._ngrams, tables, strict=True):
            weights = np.log(table + 1) - np.log(totals + max(size, 1))
            is_known = (table.sum(axis=1) > 0)[grams.gram]
            for label in range(n):
                column = weights[grams.gram[is_known], label]
                scores[:, label] += np.bincount(grams.text[is_known], weights=column, minlength=len(learnt))
        return scores
