"""Popularity of a fact by the degrees of its entities, and the order of facts by popularity (Huynh & Papotti 2019)."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluator.curation.graph.graph import Graph, Ints
from evaluator.outcomes.table import Numbers
from evaluator.statistics.random_streams import random_stream

POPULARITIES = ("popular", "non-popular", "random")


def pair_popularity(subject_degree: Any, object_degree: Any, mean_degree: float) -> Any:
    """Return G(p, s, o) = min(G(s), G(o)) (1 + max(G(s), G(o)) / G(p)), for numbers or arrays of one shape.

    G(s) and G(o) are degrees, the numbers of triples with the entity; mean_degree is G(p), their mean over the entities
    of the predicate p.
    """
    low, high = np.minimum(subject_degree, object_degree), np.maximum(subject_degree, object_degree)
    return low * (1 + high / mean_degree)


def popularity(graph: Graph, facts: Ints) -> Numbers:
    """Return the popularity of each fact of a predicate (`pair_popularity`).

    facts: all facts of the predicate, (subject, object) as entity numbers, shape (facts, 2).
    """
    degrees = graph.degrees
    scores: Numbers = pair_popularity(degrees[facts[:, 0]], degrees[facts[:, 1]], mean_degree(graph, facts))
    return scores


def mean_degree(graph: Graph, facts: Ints) -> float:
    """Return G(p), the mean degree of a predicate's entities.

    facts: all facts of the predicate, (subject, object) as entity numbers, shape (facts, 2).
    """
    return float(graph.degrees[np.unique(facts)].mean())


def order_by(flavour: str, scores: Numbers, seed: int) -> Ints:
    """Return the indices of facts in the order in which a scenario prefers them.

    scores: the facts' popularity. flavour: "popular" for the most popular first, "non-popular" for the least popular
    first, "random" for an order shuffled by the seed. Without shuffling, equally popular facts keep their order.
    """
    if flavour == "random":
        indices = list(range(len(scores)))
        random_stream(seed, "random facts").shuffle(indices)
        return np.array(indices, dtype=np.int64)
    return np.argsort(-scores if flavour == "popular" else scores, kind="stable")
