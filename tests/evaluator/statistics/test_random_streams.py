"""Seeded draws."""

from collections import Counter
from itertools import islice, permutations

from evaluator.statistics.random_streams import random_stream, shuffled


def test_a_stream_follows_from_seed_and_names_alone():
    assert random_stream(1, "a", "b").random() == random_stream(1, "a", "b").random()
    streams = [(1, "a", "b"), (2, "a", "b"), (1, "b", "a"), (1, "a"), (1, "a", None)]
    assert len({random_stream(*names).random() for names in streams}) == len(streams)


def test_every_order_is_drawn_alike_and_only_as_far_as_asked():
    drawn = Counter(tuple(shuffled(4, random_stream(seed, "orders"))) for seed in range(2400))
    assert set(drawn) == set(permutations(range(4)))
    assert all(60 < times < 145 for times in drawn.values())
    assert list(shuffled(0, random_stream(0))) == []
    assert len(set(islice(shuffled(10**12, random_stream(0)), 50))) == 50
