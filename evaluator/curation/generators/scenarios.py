"""`split scenarios`: claims over a knowledge graph, from easy to hard (Huynh & Papotti 2019)."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.parameters import Kind, Parameter, Secret, Source
from evaluator.curation.generators.workspace import Workspace

SOURCES = ("walks", "closed-world")
_POOL = 3000
_DIMENSIONS = 50


SOURCES_READ = (
    Source(
        "graph",
        "Knowledge graph",
        "subject, predicate, object, tab-separated; .gz is decompressed",
        flag="--graph",
        several=True,
    ),
    Source(
        "types",
        "Types of entities",
        "entity types: an object {entity: [type, ...]} in .json, or tab-separated lines",
        flag="--types",
        required=False,
    ),
    Source(
        "embeddings",
        "Embeddings",
        "one entity and its numbers per line, tab-separated (default: a truncated SVD of the graph)",
        flag="--embeddings",
        required=False,
        on_site=False,
    ),
    Source(
        "apart_from",
        "Gold with pairs to exclude",
        "gold, such as that of a test split, whose subject and object pairs are not used",
        flag="--exclude-pairs",
        several=True,
        required=False,
    ),
)
PARAMETERS = (
    Parameter("relation", Kind.TEXT, "Relation", "the predicate of the graph that the claims are about", required=True),
    Parameter("size", Kind.WHOLE, "Claims per scenario", "claims per scenario", default=300),
    Parameter("ratio", Kind.TEXT, "Ratio of true to false claims", "true claims per false claim", default="1"),
    Parameter(
        "transparency",
        Kind.SEVERAL,
        "Transparency",
        "comma-separated shares of false claims that are easy, unrelated pairs, such as 0,0.2,0.5,1",
        default=["1"],
    ),
    Parameter(
        "homogeneity",
        Kind.SEVERAL,
        "Homogeneity",
        "comma-separated shares of the true claims that come from the largest clusters (default: ignore clusters)",
        on_site=False,
    ),
    Parameter(
        "popularity",
        Kind.SEVERAL,
        "Popularity",
        "comma-separated: one or more of popular, non-popular and random",
        default=["random"],
    ),
    Parameter(
        "plausible",
        Kind.CHOICE,
        "Plausible false claims",
        "how plausible false claims are made: by random walks or by the closed-world assumption",
        default="walks",
        choices=SOURCES,
    ),
    Parameter(
        "pool",
        Kind.WHOLE,
        "Clustered facts",
        "maximum number of facts to cluster",
        default=_POOL,
        on_site=False,
    ),
    Parameter(
        "dimensions",
        Kind.WHOLE,
        "Dimensions",
        "number of dimensions of the truncated SVD",
        default=_DIMENSIONS,
        on_site=False,
    ),
    Parameter(
        "pairs_once",
        Kind.FLAG,
        "Use each pair once",
        "use each pair of subject and object only once over all scenarios",
    ),
    Parameter(
        "public_graph",
        Kind.FLAG,
        "Public graph",
        "also write the graph without the true claims, for participants",
        on_site=False,
    ),
    Parameter(
        "kind",
        Kind.CHOICE,
        "Kind",
        "prefix of the file names in the published layout",
        default="test",
        choices=("test", "train"),
        on_site=False,
    ),
    Parameter("salt", Kind.SECRET, "Salt", "a secret from which ids are derived; never recorded", default=Secret("")),
)


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    from evaluator.curation.graph.files import read_triples, read_types
    from evaluator.curation.graph.graph import Graph
    from evaluator.curation.scenarios import matrix, writing
    from evaluator.curation.scenarios.functionality import functionality
    from evaluator.curation.scenarios.scenario import MatrixParams, Scenarios

    requested = matrix.combinations(args.transparency, args.homogeneity or [None], args.popularity)
    warnings: list[str] = []
    triples = []
    for path in args.graph:
        more_triples, more_warnings = read_triples(bench.input("graph", path), str(path))
        triples += more_triples
        warnings += more_warnings
    graph = Graph(triples)
    types = read_types(bench.input("types", args.types), str(args.types)) if args.types else {}
    if not args.types:
        warnings.append("no types are given: every entity passes the type test")
    elif untyped := sum(name not in types for name in graph.entities):
        warnings.append(f"{args.types.name}: {untyped} of {graph.size} entities have no type")
    scenarios = Scenarios(
        graph,
        args.relation,
        MatrixParams(args.size, args.ratio, args.seed, args.plausible, args.pool),
        types=types,
        vectors=partial(_vectors, args, bench, graph, warnings),
        avoid=_pairs(args, bench),
    )
    by_scenario = matrix.matrix(scenarios, requested, once=args.pairs_once)
    writing.write(by_scenario, scenarios, bench.output, salt=args.salt, kind=args.kind)
    if args.public_graph:
        writing.write_graph(by_scenario, graph, args.relation, bench.output)
    summaries = [matrix.matrix_statistics(scenarios, params, claims) for params, claims in by_scenario]
    warnings += filter(None, map(matrix.degenerate, summaries))
    pairs = [(claim.subject, claim.object) for _, claims in by_scenario for claim in claims]
    report: dict[str, Any] = {
        "relation": args.relation,
        "graph": {"triples": len(graph.subjects), "entities": graph.size, "predicates": len(graph.predicates)},
        "functionality": functionality(scenarios.named(scenarios.facts)),
        "functionality_of_true_claims": functionality(
            (c.subject, c.object) for _, cs in by_scenario for c in cs if c.label
        ),
        "claims": len(pairs),
        "different_pairs": len(set(pairs)),
        "auroc_of_recurrence": matrix.recurrence(by_scenario),
        "scenarios": summaries,
        "warnings": warnings,
    }
    return GeneratorResult(report, _text(report))


def _vectors(args: argparse.Namespace, bench: Workspace, graph: Any, warnings: list[str]) -> Any:
    """Return the vectors of the graph's entities, one row each: from --embeddings, or else computed from the graph.

    Warnings about the file are added to `warnings`. Raises GoldError if the file is invalid or lacks an entity of the
    facts of --relation.
    """
    if args.embeddings is None:
        from evaluator.curation.scenarios.embeddings import embed

        return embed(graph, seed=args.seed, dimensions=args.dimensions)
    import numpy as np

    from evaluator.curation.graph.files import read_embeddings
    from evaluator.errors import GoldError, Problem, shown

    file = str(args.embeddings)
    vectors, more_warnings = read_embeddings(bench.input("embeddings", args.embeddings), file, graph.number)
    warnings += more_warnings
    needed = np.unique(graph.facts(args.relation))
    missing = needed[np.isnan(vectors[needed, 0])]
    if len(missing):
        message = f"{len(missing)} of {len(needed)} entities without one, first {shown(graph.entities[missing[0]])}"
        raise GoldError(
            [Problem(file, None, f"entities of {args.relation} have no vector", message, "one vector each")]
        )
    return vectors


def _pairs(args: argparse.Namespace, bench: Workspace) -> set[tuple[str, str]]:
    """Return the (subject, object) pairs of the claims about --relation in the gold files of --exclude-pairs.

    Raises GoldError for invalid gold.
    """
    from evaluator.tasks.fact_checking import TASK

    pairs = set()
    for path in args.apart_from:
        gold = TASK.read_gold(bench.input("apart-from", path), str(path), {})
        pairs |= {(claim.subject, claim.object) for claim in gold.lines if claim.relation == args.relation}
    return pairs


def _text(report: dict[str, Any]) -> str:
    shares = report["functionality"]
    lines = [
        f"{report['relation']}: {shares['pairs']} facts, {shares['subjects_per_pair']:.3f} subjects and "
        f"{shares['objects_per_pair']:.3f} objects a fact",
        *(
            f"{counts['scenario']}: {counts['true']} true, {counts['plausible']} plausible and {counts['unrelated']} "
            f"unrelated false claims; {counts['subjects_of_true']} subjects and {counts['objects_of_true']} objects of "
            "true claims"
            for counts in report["scenarios"]
        ),
        f"{report['claims']} claims about {report['different_pairs']} pairs; how often a pair recurs separates true "
        f"from false with AUROC {report['auroc_of_recurrence']:.2f}",
        *(f"warning: {warning}" for warning in report["warnings"]),
    ]
    return "\n".join(lines)


GENERATOR = Generator(
    name="scenarios",
    version=2,
    summary="make scenarios of fact checking over a knowledge graph: popularity, transparency, homogeneity",
    make=_make,
    sources=SOURCES_READ,
    parameters=PARAMETERS,
)
