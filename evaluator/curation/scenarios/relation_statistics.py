"""Functionality, popularity and paths of a relation of a knowledge graph (Huynh & Papotti 2019, table 5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from evaluator.curation.graph.graph import Graph, Ints, WalkSteps
from evaluator.curation.scenarios.functionality import functionality
from evaluator.curation.scenarios.paths import Paths, path_codes
from evaluator.curation.scenarios.popularity import mean_degree, popularity
from evaluator.statistics.random_streams import random_stream

REVERSED = "(-1)"


def relation_statistics(graph: Graph, relation: str) -> dict[str, Any]:
    """Return a relation's statistics as JSON values: functionality, mean degree of entities, popularity of facts."""
    facts = graph.facts(relation)
    scores = popularity(graph, facts)
    shares = functionality((subject, object_) for subject, object_ in facts.tolist())
    return {
        "relation": relation,
        "facts": shares.pop("pairs"),
        "subjects": len(np.unique(facts[:, 0])),
        "objects": len(np.unique(facts[:, 1])),
        **shares,
        "mean_degree": mean_degree(graph, facts),
        "popularity": {
            "lowest": float(scores.min()),
            "median": float(np.median(scores)),
            "highest": float(scores.max()),
        },
    }


def path_frequencies(graph: Graph, relation: str, *, sample: int, seed: int) -> tuple[dict[str, Any], Ints, Ints]:
    """Return (counts as JSON values, numbers of the distinct paths, number of facts with each path), most frequent
    first.

    Paths have one to three steps of other relations, in either direction, from the subject to the object of a fact. At
    most `sample` facts are searched, chosen at random by the seed. `path_names` decodes the numbers.
    """
    facts = graph.facts(relation)
    if len(facts) > sample:
        rows = sorted(random_stream(seed, "facts of the graph", relation).sample(range(len(facts)), sample))
        facts = facts[rows]
    steps = WalkSteps(graph, without=[graph.predicate_number[relation]])
    found = [Paths(steps, subject, object_).numbers for subject, object_ in facts.tolist() if subject != object_]
    numbers, frequencies = np.unique(np.concatenate([np.empty(0, dtype=np.int64), *found]), return_counts=True)
    order = np.argsort(-frequencies, kind="stable")
    counts = {
        "facts_searched": len(facts),
        "facts_with_a_path": sum(map(bool, map(len, found))),
        "paths": len(numbers),
        "mean_frequency": float(frequencies.mean()) if len(numbers) else None,
    }
    return counts, numbers[order], frequencies[order]


def path_names(graph: Graph, number: int) -> list[str]:
    """Return the relations of a path, each after `REVERSED` if it is followed from object to subject.

    number: the path's number, from `path_frequencies`.
    """
    codes = path_codes(number, 2 * len(graph.predicates))
    return [(REVERSED if code % 2 else "") + graph.predicates[code // 2] for code in codes]
