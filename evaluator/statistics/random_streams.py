"""Seeded draws: a stream of its own for everything that is drawn, so that nothing else moves it."""

from __future__ import annotations

import random
from collections.abc import Iterator


def draws(seed: int, *names: str | None) -> random.Random:
    """What is drawn for these names under the seed, whatever else was drawn before."""
    return random.Random("\t".join(map(str, (seed, *names))))  # noqa: S311 - for reproduction, not for secrets


def shuffled(n: int, rng: random.Random) -> Iterator[int]:
    """The numbers below n in a drawn order. Only those that are asked for are drawn (Fisher & Yates)."""
    moved: dict[int, int] = {}
    for last in range(n - 1, -1, -1):
        place = rng.randrange(last + 1)
        yield moved.get(place, place)
        moved[place] = moved.get(last, last)
