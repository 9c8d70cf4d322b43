"""Easy negatives: the subject of one true claim with the object of another (Huynh & Papotti 2019)."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable

from evaluator.curation.graph.graph import Graph

Pair = tuple[int, int]
_PATIENCE = 20


def unrelated(
    graph: Graph, batches: Iterable[Iterable[Pair]], n: int, rng: random.Random, used: Collection[Pair] = ()
) -> list[Pair]:
    """Return up to n different (subject, object) pairs that no predicate links either way, and that are not in `used`.

    batches: first the true claims, then batches of other facts of the predicate. A pair combines the subject of one
    fact with the object of another. A batch is added when all pairs of the batches before are used up, for example
    because the claims share one object. Fewer than n pairs are returned if there are no more.
    """
    seen, pairs, facts = set(used), list[Pair](), list[Pair]()
    linked, size = graph.linked, graph.size

    def take(subject: int, object_: int) -> None:
        pair = subject, object_
        is_linked = subject * size + object_ in linked or object_ * size + subject in linked
        if subject != object_ and not is_linked and pair not in seen:
            seen.add(pair)
            pairs.append(pair)

    for batch in batches:
        if len(pairs) == n:
            break
        facts += batch
        for _ in range(_PATIENCE * n):
            if len(pairs) == n:
                return pairs
            take(facts[rng.randrange(len(facts))][0], facts[rng.randrange(len(facts))][1])
        # Few pairs or none are left: enumerate all.
        subjects, objects = sorted({fact[0] for fact in facts}), sorted({fact[1] for fact in facts})
        rest = [(subject, object_) for subject in subjects for object_ in objects]
        rng.shuffle(rest)
        for subject, object_ in rest:
            if len(pairs) == n:
                break
            take(subject, object_)
    return pairs
