"""Clusters of similar facts (Huynh & Papotti 2019): average linkage, cut at the elbow.

The clusters that the bootstrap resamples are another thing: the groups of `evaluator.outcomes.table`.
"""

from __future__ import annotations

import numpy as np

from evaluator.curation.graph.graph import Ints
from evaluator.outcomes.table import Numbers

THRESHOLDS = 100


def distances(vectors: Numbers, facts: Ints) -> Numbers:
    """Return the distance of each two facts i < j, in the order of SciPy's pdist.

    It is (d(s_i, s_j) + d(o_i, o_j) + d(s_i, o_j) + d(o_i, s_j)) / 4, where s are subjects, o objects, and d is the
    Euclidean distance of their vectors. vectors: one row per entity. facts: (subject, object) as entity numbers, shape
    (n, 2).
    """
    from scipy.spatial.distance import cdist, pdist

    subjects, objects = vectors[facts[:, 0]], vectors[facts[:, 1]]
    across = cdist(subjects, objects)
    across += across.T.copy()
    means: Numbers = (pdist(subjects) + pdist(objects) + across[np.triu_indices(len(facts), 1)]) / 4
    return means


def elbow(heights: Numbers) -> float:
    """Return the distance threshold for cutting the cluster tree, where the number of clusters falls fastest.

    The candidates are THRESHOLDS evenly spaced distances from 0 to the last merge. heights: the distance of each merge.
    The gradient of the number of clusters is by central differences; of equal gradients the first is taken.
    """
    thresholds = np.linspace(0, heights.max(), THRESHOLDS)
    n_clusters = len(heights) + 1 - np.searchsorted(np.sort(heights), thresholds, side="right")
    # The steps are even, so differences of whole numbers suffice, which makes ties exact.
    return float(thresholds[np.argmin(np.gradient(n_clusters))])


def cluster(vectors: Numbers, facts: Ints) -> Ints:
    """Return each fact's cluster, numbered by size: 0 is the largest; equally large clusters by their first fact.

    vectors: one row per entity. facts: (subject, object) as entity numbers, shape (n, 2).
    """
    if len(facts) < 2:
        return np.zeros(len(facts), dtype=np.int64)
    from scipy.cluster.hierarchy import fcluster, linkage

    merges = linkage(distances(vectors, facts), method="average")
    labels = fcluster(merges, t=elbow(merges[:, 2]), criterion="distance")
    _, first, inverse, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    ranks = np.empty(len(sizes), dtype=np.int64)
    ranks[np.lexsort((first, -sizes))] = np.arange(len(sizes))
    return ranks[inverse]
