"""Clusters of alike facts (Huynh & Papotti 2019): average linkage, cut at the elbow."""

from __future__ import annotations

import numpy as np

from evaluator.curation.graph.graph import Ints
from evaluator.outcomes.table import Numbers

THRESHOLDS = 100


def distances(vectors: Numbers, facts: Ints) -> Numbers:
    """(d(s_i, s_j) + d(o_i, o_j) + d(s_i, o_j) + d(o_i, s_j)) / 4 for i < j, as SciPy's pdist orders them.

    vectors: a row an entity; d is the Euclidean distance. facts: shape (n, 2).
    """
    from scipy.spatial.distance import cdist, pdist

    subjects, objects = vectors[facts[:, 0]], vectors[facts[:, 1]]
    across = cdist(subjects, objects)
    across += across.T.copy()
    found: Numbers = (pdist(subjects) + pdist(objects) + across[np.triu_indices(len(facts), 1)]) / 4
    return found


def elbow(heights: Numbers) -> float:
    """The threshold where the number of clusters falls fastest, of THRESHOLDS even ones from 0 to the last merge.

    heights: the distance at which each merge happens. The gradient at a step is that of the steps on either side of it;
    of equal ones the first counts.
    """
    thresholds = np.linspace(0, heights.max(), THRESHOLDS)
    n_clusters = len(heights) + 1 - np.searchsorted(np.sort(heights), thresholds, side="right")
    # The steps are even, so what they fall by will do: whole numbers, of which equal ones are equal.
    return float(thresholds[np.argmin(np.gradient(n_clusters))])


def cluster(vectors: Numbers, facts: Ints) -> Ints:
    """The number of each fact's cluster, by size: 0 is the largest; of equal ones that of the first fact.

    facts: shape (n, 2).
    """
    if len(facts) < 2:
        return np.zeros(len(facts), dtype=np.int64)
    from scipy.cluster.hierarchy import fcluster, linkage

    merges = linkage(distances(vectors, facts), method="average")
    labels = fcluster(merges, t=elbow(merges[:, 2]), criterion="distance")
    _, first, found, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    ranks = np.empty(len(sizes), dtype=np.int64)
    ranks[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return ranks[found]
