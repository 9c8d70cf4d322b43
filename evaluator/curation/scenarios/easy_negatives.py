"""False pairs that nothing suggests: one true claim's subject with another's object (Huynh & Papotti 2019)."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable

from evaluator.curation.graph.graph import Graph

Pair = tuple[int, int]
_PATIENCE = 20


def unrelated(
    graph: Graph, batches: Iterable[Iterable[Pair]], n: int, rng: random.Random, used: Collection[Pair] = ()
) -> list[Pair]:
    """Up to n different pairs that no predicate links in either direction, none of them used already.

    batches: the true claims, then other facts of the predicate. A batch joins those before it when all their pairs are
    taken: alike claims may share one object. Fewer than n: there are no more.
    """
    taken, found, facts = set(used), list[Pair](), list[Pair]()
    linked, size = graph.linked, graph.size

    def take(subject: int, object_: int) -> None:
        pair = subject, object_
        known = subject * size + object_ in linked or object_ * size + subject in linked
        if subject != object_ and not known and pair not in taken:
            taken.add(pair)
            found.append(pair)

    for batch in batches:
        if len(found) == n:
            break
        facts += batch
        for _ in range(_PATIENCE * n):
            if len(found) == n:
                return found
            take(facts[rng.randrange(len(facts))][0], facts[rng.randrange(len(facts))][1])
        # Few are left, or none: look at all there are.
        subjects, objects = sorted({fact[0] for fact in facts}), sorted({fact[1] for fact in facts})
        rest = [(subject, object_) for subject in subjects for object_ in objects]
        rng.shuffle(rest)
        for subject, object_ in rest:
            if len(found) == n:
                break
            take(subject, object_)
    return found
