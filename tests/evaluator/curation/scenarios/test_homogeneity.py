"""Which facts are chosen: a share from the largest clusters, the others one a cluster."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluator.curation.scenarios.homogeneity import select
from evaluator.errors import UsageError


def numbered(labels):
    """Clusters by size, as the generator numbers them."""
    order = [label for label, _ in Counter(labels).most_common()]
    return [order.index(label) for label in labels]


@given(st.lists(st.integers(0, 6), min_size=1, max_size=40).map(numbered), st.data())
@settings(deadline=None)
def test_the_first_fill_the_largest_clusters_and_the_rest_go_round(clusters, data):
    n = data.draw(st.integers(1, len(clusters)))
    wanted = data.draw(st.integers(0, n))
    sizes = Counter(clusters)
    full, left = [], wanted  # what the largest clusters give, in turn
    for number in sorted(sizes):
        full.append(min(left, sizes[number]))
        left -= full[-1]
    giving = {number for number, some in enumerate(full) if some}
    others = sum(sizes[number] for number in sizes if number not in giving)
    if n - wanted > others:
        with pytest.raises(UsageError, match="clusters other than"):
            select(clusters, n, wanted)
        return
    chosen = select(clusters, n, wanted)
    assert len(chosen) == len(set(chosen)) == n
    found = Counter(clusters[place] for place in chosen)
    assert [found[number] for number in sorted(giving)] == [some for some in full if some]
    rounds = max((found[number] for number in sizes if number not in giving), default=0)
    for number in set(sizes) - giving:  # nobody gives twice while another that has some has not given once
        assert found[number] >= min(sizes[number], rounds - 1)
    for number in sizes:  # within a cluster those to take first are taken
        places = [place for place, label in enumerate(clusters) if label == number]
        assert {place for place in chosen if clusters[place] == number} == set(places[: found[number]])


def test_too_few_facts():
    with pytest.raises(UsageError, match="at least 3"):
        select([0, 0], 3, 3)
