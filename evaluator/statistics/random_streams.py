"""Seeded random streams, one per use, so that the random choices of one use do not depend on any other use."""

from __future__ import annotations

import random
from collections.abc import Iterator


def random_stream(seed: int, *names: str | None) -> random.Random:
    """Return the random generator for one use and one seed. names: texts that identify the use.

    Generators of different uses or seeds are statistically independent in practice.
    """
    return random.Random("\t".join(map(str, (seed, *names))))  # noqa: S311 - for reproduction, not for secrets


def shuffled(n: int, rng: random.Random) -> Iterator[int]:
    """Yield the integers from 0 to n - 1 in random order (Fisher-Yates shuffle), drawing each when it is requested."""
    moved: dict[int, int] = {}
    for last in range(n - 1, -1, -1):
        index = rng.randrange(last + 1)
        yield moved.get(index, index)
        moved[index] = moved.get(last, last)
