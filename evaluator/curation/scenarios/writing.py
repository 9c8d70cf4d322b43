"""Files of scenarios: gold of fact-checking and, for the curator, the origin of each claim.

Files in the layout that BUCKLE published (`..._scenario.tsv`), for programs that read it, reveal the labels by their
order and their last columns: keep them as secret as the gold.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

from evaluator.curation.graph.graph import Graph
from evaluator.curation.scenarios.matrix import ClaimsByScenario, name
from evaluator.curation.scenarios.scenario import Claim, ScenarioParams, Scenarios

COLUMNS = ("Subject", "Object", "Relation", "Label", "Origin_Relation", "Cluster")
Open = Callable[[str], BinaryIO]


def write(by_scenario: ClaimsByScenario, scenarios: Scenarios, open_: Open, *, salt: str, kind: str = "test") -> None:
    """Write the scenarios' gold.jsonl and origins.jsonl; with clusters also clusters.tsv and files in BUCKLE's layout.

    open_: opens an output file by its name. salt: a secret from which ids and groups are derived. kind: "test" or
    "train", the prefix of file names in the published layout.
    """
    key = hashlib.sha256(f"{salt}\t{scenarios.params.seed}".encode()).digest()
    lines = sorted(
        (_line(claim, params, scenarios, key) for params, claims in by_scenario for claim in claims),
        key=lambda line: str(line[0]["id"]),
    )
    with open_("gold.jsonl") as gold, open_("origins.jsonl") as origins:
        for gold_line, origin in lines:
            gold.write(_json(gold_line))
            origins.write(_json(origin))
    clustered = [(params, claims) for params, claims in by_scenario if params.homogeneity is not None]
    for params, claims in clustered:
        with open_(f"{kind}_{name(params, scenarios).replace(' ', '_')}_scenario.tsv") as file:
            file.write(_row(COLUMNS))
            file.writelines(_row(row) for row in _published(claims, scenarios.predicate))
    if clustered:
        with open_("clusters.tsv") as file:
            file.write(_row(("Popularity", "Subject", "Object", "Cluster")))
            for flavour in dict.fromkeys(params.popularity for params, _ in clustered):
                file.writelines(_row((flavour, *row)) for row in scenarios.clustered(flavour))


def write_graph(by_scenario: ClaimsByScenario, graph: Graph, predicate: str, open_: Open) -> None:
    """Write graph.tsv: the graph without the true claims of any scenario, in either direction.

    A fact whose reverse is a true claim would reveal it, since no false claim has one. predicate: the predicate of the
    claims. open_: opens an output file by its name.
    """
    true = {(claim.subject, claim.object) for _, claims in by_scenario for claim in claims if claim.label}
    hidden = true | {(object_, subject) for subject, object_ in true}
    ends, predicates = graph.entities, graph.predicates
    rows = zip(graph.subjects.tolist(), graph.predicates_of.tolist(), graph.objects.tolist(), strict=True)
    with open_("graph.tsv") as file:
        for s, p, o in rows:
            if predicates[p] != predicate or (ends[s], ends[o]) not in hidden:
                file.write(_row((ends[s], predicates[p], ends[o])))


def _line(
    claim: Claim, params: ScenarioParams, scenarios: Scenarios, key: bytes
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a claim's lines of gold.jsonl and origins.jsonl. Neither id nor group depends on the label.

    key: the secret from which ids and groups are derived.
    """
    scenario, predicate = name(params, scenarios), scenarios.predicate
    slices: dict[str, Any] = {"relation": predicate, "transparency": float(params.transparency)}
    if params.homogeneity is not None:
        slices["homogeneity"] = float(params.homogeneity)
    slices |= {"popularity": params.popularity, "scenario": scenario}
    triple = claim.subject, predicate, claim.object
    ends = claim.subject, claim.object
    first, second = sorted(ends) if scenarios.two_way else ends
    gold = {
        "id": _salted(key, scenario, *triple),
        "subject": claim.subject,
        "relation": predicate,
        "object": claim.object,
        "label": claim.label,
        # A pair in several scenarios, or a two-way fact in both directions, is one independent case.
        "group": _salted(key, first, predicate, second),
        "slices": slices,
    }
    origin: dict[str, Any] = {"id": gold["id"], "scenario": scenario, "origin": claim.origin}
    if claim.path:
        origin |= {"path": list(claim.path), "source": list(claim.source or ())}
    if claim.cluster is not None:
        origin["cluster"] = claim.cluster
    return gold, origin


def _published(claims: list[Claim], predicate: str) -> Iterator[tuple[str, ...]]:
    for claim in claims:
        origin = "No" if claim.label else ",".join(claim.path) or "*"
        cluster = "*" if claim.cluster is None else str(claim.cluster)
        yield claim.subject, claim.object, predicate, "1" if claim.label else "-1", origin, cluster


def _salted(key: bytes, *parts: str) -> str:
    return hashlib.blake2b("\t".join(parts).encode(), key=key, digest_size=8).hexdigest()


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def _row(texts: tuple[str, ...]) -> bytes:
    return "\t".join(texts).encode() + b"\n"
