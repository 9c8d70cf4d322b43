"""Choice of facts: a share from the largest clusters, the others one per cluster in turn."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.scenarios.homogeneity import select
from evaluator.errors import UsageError


def by_size(labels):
    """Clusters by size, as the generator numbers them."""
    order = [label for label, _ in Counter(labels).most_common()]
    return [order.index(label) for label in labels]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40).map(by_size), st.data())
@settings(deadline=None)
def test_the_largest_clusters_are_filled_first_and_others_take_turns(clusters, data):
    n = data.draw(st.integers(1, len(clusters)))
    n_from_largest = data.draw(st.integers(0, n))
    sizes = Counter(clusters)
    full, left = [], n_from_largest  # number of facts from each of the largest clusters
    for number in sorted(sizes):
        full.append(min(left, sizes[number]))
        left -= full[-1]
    full_clusters = {number for number, n_facts in enumerate(full) if n_facts}
    others = sum(sizes[number] for number in sizes if number not in full_clusters)
    if n - n_from_largest > others:
        with pytest.raises(UsageError, match="clusters other than"):
            select(clusters, n, n_from_largest)
        return
    chosen = select(clusters, n, n_from_largest)
    assert len(chosen) == len(set(chosen)) == n
    counts = Counter(clusters[i] for i in chosen)
    assert [counts[number] for number in sorted(full_clusters)] == [n_facts for n_facts in full if n_facts]
    rounds = max((counts[number] for number in sizes if number not in full_clusters), default=0)
    for number in (
        set(sizes) - full_clusters
    ):  # no cluster gives a second fact before every other cluster with facts has given one
        assert counts[number] >= min(sizes[number], rounds - 1)
    for number in sizes:  # within a cluster, facts are taken in order
        indices = [i for i, label in enumerate(clusters) if label == number]
        assert {i for i in chosen if clusters[i] == number} == set(indices[: counts[number]])


def test_too_few_facts():
    with pytest.raises(UsageError, match="at least 3"):
        select([0, 0], 3, 3)
