"""Seeded draws: a stream of its own for everything that is drawn, so that nothing else moves it."""

from __future__ import annotations

import random


def draws(seed: int, *names: str | None) -> random.Random:
    """What is drawn for these names under the seed, whatever else was drawn before."""
    return random.Random("\t".join(map(str, (seed, *names))))  # noqa: S311 - for reproduction, not for secrets
