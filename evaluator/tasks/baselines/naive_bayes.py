"""Naive Bayes over words and bigrams (multinomial, add-one), in NumPy: a system that sees one text.

As scikit-learn's MultinomialNB over counts, with which a test compares it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from evaluator.outcomes.table import Numbers
from evaluator.statistics.ngrams import occurrences

Marks = npt.NDArray[np.bool_]


class Words:
    """Texts whose words are counted once, to learn from some of them and be asked about others."""

    def __init__(self, texts: Sequence[str], labels: Sequence[str]) -> None:
        """labels: of all texts; those of texts that are not learnt from do not matter."""
        self.names = sorted(set(labels))
        number = {name: place for place, name in enumerate(self.names)}
        self._label = np.array([number[name] for name in labels], dtype=np.int64)
        self._found = [occurrences(texts, n=n) for n in (1, 2)]

    def predicted(self, learnt: Marks) -> npt.NDArray[np.int64]:
        """A number of `names` for every text: the most probable; of equals the first."""
        return np.asarray(self.log_probabilities(learnt).argmax(axis=1), dtype=np.int64)

    def log_probabilities(self, learnt: Marks) -> Numbers:
        """Texts x labels, up to a constant a text. Words that no text learnt from has are left out."""
        n = len(self.names)
        tables, totals, size = [], np.zeros(n), 0
        for found in self._found:
            known = learnt[found.text]
            cells = found.gram[known] * n + self._label[found.text[known]]
            table = np.bincount(cells, minlength=found.n_grams * n).reshape(found.n_grams, n)
            tables.append(table)
            totals += table.sum(axis=0)
            size += int(np.count_nonzero(table.any(axis=1)))
        with np.errstate(divide="ignore"):  # a label that is not learnt is never predicted
            scores = np.tile(np.log(np.bincount(self._label[learnt], minlength=n) / learnt.sum()), (len(learnt), 1))
        for found, table in zip(self._found, tables, strict=True):
            weights = np.log(table + 1) - np.log(totals + max(size, 1))
            mine = (table.sum(axis=1) > 0)[found.gram]
            for label in range(n):
                column = weights[found.gram[mine], label]
                scores[:, label] += np.bincount(found.text[mine], weights=column, minlength=len(learnt))
        return scores
