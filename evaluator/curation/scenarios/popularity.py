"""How well known a fact's two entities are, and facts in that order (Huynh & Papotti 2019)."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluator.curation.graph.graph import Graph, Ints
from evaluator.outcomes.table import Numbers
from evaluator.statistics.random_streams import draws

POPULARITIES = ("popular", "non-popular", "random")


def pair_popularity(subject_degree: Any, object_degree: Any, mean_degree: float) -> Any:
    """G(p, s, o) = min(G(s), G(o)) (1 + max(G(s), G(o)) / G(p)): numbers, or arrays of one shape.

    Degrees count the triples that an entity is in; mean_degree is G(p), their mean over the entities of p.
    """
    low, high = np.minimum(subject_degree, object_degree), np.maximum(subject_degree, object_degree)
    return low * (1 + high / mean_degree)


def popularity(graph: Graph, facts: Ints) -> Numbers:
    """The popularity of each of a predicate's facts. facts: shape (facts, 2), all that the graph has."""
    degrees = graph.degrees
    mean = float(degrees[np.unique(facts)].mean())
    scores: Numbers = pair_popularity(degrees[facts[:, 0]], degrees[facts[:, 1]], mean)
    return scores


def preferred(flavour: str, scores: Numbers, seed: int) -> Ints:
    """Places of facts, those to take first in front: the most popular, the least popular, or a seeded shuffle.

    Equally popular facts stand as they came.
    """
    if flavour == "random":
        places = list(range(len(scores)))
        draws(seed, "random facts").shuffle(places)
        return np.array(places, dtype=np.int64)
    return np.argsort(-scores if flavour == "popular" else scores, kind="stable")
