"""Cues: n-grams of the claim that predict its label (Schuster et al. 2019, section 2 and table 1).

The local mutual information of an n-gram w and a label l is LMI(w, l) = p(w, l) ln(p(l | w) / p(l)). Probabilities are
shares of the occurrences of n-grams: p(l) is the share of those in claims labelled l. LMI is high for n-grams that are
frequent *and* one-sided; p(l | w) alone is high for rare ones too.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evaluator.errors import UsageError, shown
from evaluator.statistics.ngrams import occurrences

MIN_FREQUENCY = 5


class Cue(NamedTuple):
    """One n-gram with one label.

    lmi: local mutual information in nats; the paper prints it times 10^6. n_label, n: the n-gram's occurrences in
    claims of the label, and in all claims. p: p(label | ngram) = n_label / n.
    """

    ngram: str
    label: str
    lmi: float
    p: float
    n_label: int
    n: int


@dataclass(frozen=True)
class CueTable:
    """Occurrences of n-grams by label.

    counts: occurrences of frequent n-grams, one row per n-gram of `ngrams`, in alphabetical order, one column per
    label. of_label: occurrences of all n-grams, including rare ones, in claims of each label. Both are sums of weights
    if claims have weights.
    """

    ngrams: list[str]
    labels: list[str]
    counts: npt.NDArray[Any]
    of_label: npt.NDArray[Any]

    def probabilities(self) -> npt.NDArray[np.float64]:
        """Return p(label | n-gram), in the shape of `counts`; 0 if an n-gram does not occur."""
        totals = self.counts.sum(axis=1, keepdims=True)
        p: npt.NDArray[np.float64] = self.counts / np.where(totals > 0, totals, 1)
        return p

    def lmi(self) -> npt.NDArray[np.float64]:
        """Return the local mutual information of each n-gram and label, in nats, in the shape of `counts`.

        It is 0, the limit, if an n-gram never occurs with a label.
        """
        total = self.of_label.sum() or 1
        prior = self.of_label / total
        with np.errstate(divide="ignore", invalid="ignore"):
            information = self.counts / total * np.log(self.probabilities() / prior)
        return np.where(self.counts > 0, information, 0.0)

    def order(self, label: str) -> npt.NDArray[np.int64]:
        """Return the indices of the table's n-grams by their LMI with the label, highest first; ties alphabetically."""
        return np.argsort(-self.lmi()[:, self.labels.index(label)], kind="stable")

    def ranked(self, label: str) -> Iterator[Cue]:
        """Yield the n-grams as cues of the label, highest LMI first; ties in alphabetical order."""
        column = self.labels.index(label)
        lmi, p, totals = self.lmi()[:, column], self.probabilities()[:, column], self.counts.sum(axis=1)
        for row in self.order(label).tolist():
            yield Cue(
                self.ngrams[row],
                label,
                float(lmi[row]),
                float(p[row]),
                int(self.counts[row, column]),
                int(totals[row]),
            )


def cue_table(
    texts: Sequence[str],
    labels: Sequence[str],
    *,
    n: int = 2,
    drop: Collection[str] = (),
    min_frequency: int = MIN_FREQUENCY,
) -> CueTable:
    """Count every n-gram of the texts by label.

    n: 1 for unigrams, 2 for bigrams... drop: unigrams removed before n-grams are formed; the paper drops the ten that
    are most frequent in the training claims (`ngrams.most_frequent`, `ngrams.FEVER_FREQUENT`). min_frequency: the least
    number of occurrences of an n-gram that gets a row. Raises UsageError for an n or a frequency under 1, or lists of
    different lengths.
    """
    if n < 1 or min_frequency < 1:
        raise UsageError(f"n is {n} and min_frequency {min_frequency}, expected whole numbers from 1")
    if len(texts) != len(labels):
        raise UsageError(f"{len(texts)} texts have {len(labels)} labels, expected one label for each text")
    names = sorted(set(labels))
    code_of = {name: index for index, name in enumerate(names)}
    tokens = occurrences(texts, n=n, drop=drop)
    label = np.array([code_of[name] for name in labels], dtype=np.int64)[tokens.text]
    counts = np.bincount(tokens.gram * len(names) + label, minlength=tokens.n_types * len(names))
    counts = counts.reshape(tokens.n_types, len(names))
    frequent = np.flatnonzero(counts.sum(axis=1) >= min_frequency)
    ngrams = [tokens.name(gram) for gram in frequent.tolist()]
    order = sorted(range(len(ngrams)), key=ngrams.__getitem__)
    return CueTable([ngrams[index] for index in order], names, counts[frequent[order]], counts.sum(axis=0))


def recount(
    table: CueTable,
    texts: Sequence[str],
    labels: Sequence[str],
    *,
    n: int,
    drop: Collection[str],
    weights: npt.NDArray[np.float64] | None = None,
) -> CueTable:
    """Count a cue table's n-grams in other texts, or in the same texts with weights; return a table with equal rows.

    n, drop: as in the call of `cue_table` that made the table. weights: one per text; an occurrence counts as much as
    its text weighs. None: all are 1. Raises UsageError for a label that the table does not have.
    """
    if unknown := sorted(set(labels) - set(table.labels)):
        raise UsageError(f"a text has the label {shown(unknown[0])}, expected one of: {', '.join(table.labels)}")
    column_of = {name: column for column, name in enumerate(table.labels)}
    tokens = occurrences(texts, n=n, drop=drop)
    column = np.array([column_of[name] for name in labels], dtype=np.int64)[tokens.text]
    weight = np.ones(len(texts), dtype=np.int64) if weights is None else weights
    row_of = {name: row for row, name in enumerate(table.ngrams)}
    row = np.array([row_of.get(tokens.name(gram), -1) for gram in range(tokens.n_types)], dtype=np.int64)[tokens.gram]
    counts = np.zeros_like(table.counts, dtype=weight.dtype)
    counted = row >= 0
    np.add.at(counts, (row[counted], column[counted]), weight[tokens.text[counted]])
    of_label = np.zeros(len(table.labels), dtype=weight.dtype)
    np.add.at(of_label, column, weight[tokens.text])
    return CueTable(table.ngrams, table.labels, counts, of_label)
