"""Seeded random streams: each use has its own stream, so that no other use changes it."""

from __future__ import annotations

import random
from collections.abc import Iterator


def random_stream(seed: int, *names: str | None) -> random.Random:
    """Return a random generator for these names under the seed, independent of other streams."""
    return random.Random("\t".join(map(str, (seed, *names))))  # noqa: S311 - for reproduction, not for secrets


def shuffled(n: int, rng: random.Random) -> Iterator[int]:
    """Yield the numbers below n in random order. Only consumed numbers are sampled (Fisher & Yates)."""
    moved: dict[int, int] = {}
    for last in range(n - 1, -1, -1):
        index = rng.randrange(last + 1)
        yield moved.get(index, index)
        moved[index] = moved.get(last, last)
