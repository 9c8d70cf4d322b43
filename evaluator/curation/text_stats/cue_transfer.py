"""Transfer of cues from one file of claims to another (Schuster et al. 2019).

Cues are n-grams that predict a label. Two measures show how well the cues of one file work in another: the correlation
of p(label | n-gram) in the two files, and the share of a file's claims that contain one of the strongest cues
(coverage).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from evaluator.curation.text_stats.correlation import pearson, spearman
from evaluator.curation.text_stats.cues import CueTable
from evaluator.statistics.ngrams import occurrences

TOPS = (10, 20, 50, 100, 200, 500, 1000)
"""Numbers of n-grams, the highest by LMI, over which the paper computes its correlations."""


def correlations(table: CueTable, other: CueTable, label: str) -> Iterator[tuple[int, float | None, float | None]]:
    """Yield (number of n-grams, Pearson's correlation, Spearman's correlation) for each number in TOPS.

    Correlated are the values of p(label | n-gram) in both tables, over the n-grams with the highest LMI in `table`;
    `other` has the same rows (see `cues.recount`). An n-gram that does not occur in `other` has p = 0 there. Numbers
    above the length of the table are left out, and a correlation is None where all values of a table are equal.
    """
    column, order = table.labels.index(label), table.order(label)
    first, second = table.probabilities()[order, column], other.probabilities()[order, column]
    for top in _tops(table):
        yield top, pearson(first[:top], second[:top]), spearman(first[:top], second[:top])


def coverage(
    table: CueTable, texts: Sequence[str], labels: Sequence[str], label: str, *, n: int, drop: Collection[str]
) -> list[tuple[int, float | None]]:
    """Return (number of n-grams, share of the label's texts that contain one of these n-grams) for each number in TOPS.

    The n-grams are those with the highest LMI in `table`; numbers above its length are left out. n, drop: as in the
    call of `cues.cue_table` that made the table. The share is None if no text has the label.
    """
    chosen = [text for text, name in zip(texts, labels, strict=True) if name == label]
    rank_of = {table.ngrams[row]: rank for rank, row in enumerate(table.order(label).tolist())}
    tokens = occurrences(chosen, n=n, drop=drop)
    ranks: npt.NDArray[np.int64] = np.array(
        [rank_of.get(tokens.name(gram), len(rank_of)) for gram in range(tokens.n_types)], dtype=np.int64
    )
    best = np.full(len(chosen), len(rank_of), dtype=np.int64)
    np.minimum.at(best, tokens.text, ranks[tokens.gram])
    return [(top, float((best < top).mean()) if chosen else None) for top in _tops(table)]


def _tops(table: CueTable) -> list[int]:
    return [top for top in TOPS if top <= len(table.ngrams)]
