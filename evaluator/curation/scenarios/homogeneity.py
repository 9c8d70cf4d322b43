"""Selection of true claims: some from the largest clusters, the rest from other clusters (Huynh & Papotti 2019)."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from evaluator.errors import UsageError


def select(clusters: Sequence[int], n: int, n_from_largest: int) -> list[int]:
    """Return the indices of n true facts: n_from_largest from the largest clusters, the rest from other clusters.

    clusters: the number of each fact's cluster; 0 is the largest. Facts are in order of preference: the first ones of a
    cluster are taken. The largest cluster is used up before the next one is touched. The rest are taken round-robin
    from clusters that have not been used. Raises UsageError if there are fewer than n_from_largest facts, or if the
    unused clusters have too few facts for the rest: the scenario would be more homogeneous than declared.
    """
    members: dict[int, deque[int]] = {}
    for index, number in enumerate(clusters):
        members.setdefault(number, deque()).append(index)
    chosen: list[int] = []
    for number in sorted(members):
        if len(chosen) == n_from_largest:
            break
        chosen += [members[number].popleft() for _ in range(min(n_from_largest - len(chosen), len(members[number])))]
    used = {clusters[index] for index in chosen}
    if len(chosen) < n_from_largest:
        raise UsageError(f"the clusters have {len(clusters)} facts, expected at least {n_from_largest}")
    others = deque(facts for number, facts in members.items() if number not in used)
    n_rest, n_available = n - len(chosen), sum(map(len, others))
    if n_rest > n_available:
        raise UsageError(
            f"{n_rest} of {n} true claims must come from clusters other than the {len(used)} largest, but the other "
            f"{len(others)} have {n_available} facts; expected a smaller size, another homogeneity, or finer clusters "
            "(other embeddings, a larger pool)"
        )
    while len(chosen) < n:
        facts = others.popleft()
        chosen.append(facts.popleft())
        if facts:
            others.append(facts)
    return chosen
