"""Clusters against plain average linkage, on points without ties."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.scenarios.embedding_clusters import cluster, distances, elbow
from tests.evaluator.curation.graph import graph_oracle
from tests.support.full_run import examples


def scattered(seed, n):
    """Vectors of 2n entities in three clusters, and n facts without shared entities, which would cause ties."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((3, 4)) * 5
    vectors = centres[rng.integers(0, 3, 2 * n)] + rng.standard_normal((2 * n, 4))
    return vectors, rng.permutation(2 * n).reshape(n, 2)


def distance_function(vectors):
    def d(a, b):
        return math.dist(vectors[a], vectors[b])

    return lambda i, j: (d(i[0], j[0]) + d(i[1], j[1]) + d(i[0], j[1]) + d(i[1], j[0])) / 4


@given(st.integers(0, 1000), st.integers(2, 14))
@settings(max_examples=examples(40), deadline=None)
def test_clusters_equal_average_linkage_at_the_elbow(seed, n):
    vectors, facts = scattered(seed, n)
    points = [tuple(fact) for fact in facts.tolist()]
    computed = distances(vectors, facts)
    expected = [distance_function(vectors)(points[i], points[j]) for i in range(n) for j in range(i + 1, n)]
    assert computed.tolist() == pytest.approx(expected)
    heights, clusters_at = graph_oracle.average_linkage(points, distance_function(vectors))
    threshold = elbow(np.array(heights))
    assert threshold == pytest.approx(graph_oracle.steepest(heights, n))
    labels = cluster(vectors, facts).tolist()
    assert {frozenset(i for i in range(n) if labels[i] == label) for label in labels} == clusters_at(threshold + 1e-9)


@given(st.integers(0, 1000), st.integers(1, 40))
@settings(deadline=None)
def test_the_largest_cluster_is_number_0(seed, n):
    labels = cluster(*scattered(seed, n)).tolist()
    sizes = Counter(labels)
    assert sorted(sizes) == list(range(len(sizes)))
    assert [sizes[number] for number in sorted(sizes)] == sorted(sizes.values(), reverse=True)


def test_the_elbow_is_where_most_merges_are():
    heights = np.array([1.0, 2.0, 5.0, 5.01, 5.02, 5.03, 9.0, 10.0])
    assert 4.9 < elbow(heights) < 5.2
    assert elbow(np.array([3.0, 3.0])) == 3.0
