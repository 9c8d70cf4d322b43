"""Seeded random streams."""

from collections import Counter
from itertools import islice, permutations

from evaluator.statistics.random_streams import random_stream, shuffled


def test_a_stream_depends_on_seed_and_names_alone():
    assert random_stream(1, "a", "b").random() == random_stream(1, "a", "b").random()
    streams = [(1, "a", "b"), (2, "a", "b"), (1, "b", "a"), (1, "a"), (1, "a", None)]
    assert len({random_stream(*names).random() for names in streams}) == len(streams)


def test_shuffling_is_uniform_and_lazy():
    counts = Counter(tuple(shuffled(4, random_stream(seed, "orders"))) for seed in range(2400))
    assert set(counts) == set(permutations(range(4)))
    assert all(60 < times < 145 for times in counts.values())
    assert list(shuffled(0, random_stream(0))) == []
    assert len(set(islice(shuffled(10**12, random_stream(0)), 50))) == 50
