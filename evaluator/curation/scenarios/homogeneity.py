"""Which facts become true claims: some of the largest clusters, the rest from all the others (Huynh & Papotti 2019)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from evaluator.errors import UsageError


def select(clusters: Sequence[int], n: int, n_from_largest: int) -> list[int]:
    """Places of n facts. clusters: each fact's cluster by size (0 is the largest), those to take first in front.

    The first n_from_largest come from the largest clusters in turn: all of the largest before any of the next. The
    rest come one a cluster, round and round, from clusters that gave none of the first. Raises UsageError where those
    do not hold enough: the scenario would be more alike than it says.
    """
    members: dict[int, deque[int]] = {}
    for place, number in enumerate(clusters):
        members.setdefault(number, deque()).append(place)
    chosen: list[int] = []
    for number in sorted(members):
        if len(chosen) == n_from_largest:
            break
        chosen += [members[number].popleft() for _ in range(min(n_from_largest - len(chosen), len(members[number])))]
    used = {clusters[place] for place in chosen}
    if len(chosen) < n_from_largest:
        raise UsageError(f"{len(clusters)} facts are clustered, expected at least {n_from_largest}")
    others = deque(facts for number, facts in members.items() if number not in used)
    left, there = n - len(chosen), sum(map(len, others))
    if left > there:
        raise UsageError(
            f"{left} of {n} true claims are to come from other clusters than the {len(used)} largest, and the other "
            f"{len(others)} hold {there} facts; expected a smaller size, another homogeneity, or finer clusters "
            "(other embeddings, a larger pool)"
        )
    while len(chosen) < n:
        facts = others.popleft()
        chosen.append(facts.popleft())
        if facts:
            others.append(facts)
    return chosen
