"""`audit graph`: functionality, popularity and paths of the relations of a knowledge graph."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from evaluator.curation.generators.arguments import positive
from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.workspace import Workspace
from evaluator.errors import UsageError, shown
from evaluator.progress import Steps

_SAMPLE = 1000
_SHOWN = 20


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "graph",
        type=Path,
        nargs="+",
        help="subject, predicate, object, tab-separated; several files are one graph; .gz is decompressed",
    )
    add("--relation", help="show only this relation, with its most frequent paths")
    add(
        "--sample",
        type=positive,
        default=_SAMPLE,
        metavar="N",
        help=f"number of facts of a relation between which paths are searched (default: {_SAMPLE})",
    )


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    from evaluator.curation.graph.files import read_triples
    from evaluator.curation.graph.graph import Graph
    from evaluator.curation.scenarios.relation_statistics import path_frequencies, path_names, relation_statistics

    triples, warnings = [], list[str]()
    for path in args.graph:
        more_triples, more_warnings = read_triples(bench.input("graph", path), str(path))
        triples += more_triples
        warnings += more_warnings
    graph = Graph(triples)
    if args.relation is not None and args.relation not in graph.predicate_number:
        raise UsageError(
            f"--relation is {shown(args.relation)}, expected one of the graph's {len(graph.predicates)} relations, "
            f"such as {shown(graph.predicates[0])}"
        )
    names = graph.predicates if args.relation is None else [args.relation]
    relations: list[dict[str, Any]] = []
    progress = Steps(len(names))
    report: dict[str, Any] = {
        "graph": {"triples": len(graph.subjects), "entities": graph.size, "predicates": len(graph.predicates)},
        "relations": relations,
        "warnings": warnings,
    }
    for name in names:
        counts, numbers, frequencies = path_frequencies(graph, name, sample=args.sample, seed=args.seed)
        relations.append(relation_statistics(graph, name) | counts)
        if args.relation is not None:
            found = zip(numbers.tolist(), frequencies.tolist(), strict=True)
            paths = [{"path": path_names(graph, number), "facts": count} for number, count in found]
            report["paths"] = paths[:_SHOWN]
            bench.write_rows("paths.jsonl", paths)
        progress.add(1)
    relations.sort(key=lambda row: (-row["facts"], row["relation"]))
    bench.write_rows("relations.jsonl", relations)
    return GeneratorResult(report, _text(report))


def _text(report: dict[str, Any]) -> str:
    counts = report["graph"]
    lines = [
        f"{counts['triples']} triples, {counts['entities']} entities, {counts['predicates']} relations",
        "",
        f"{'facts':>8} {'subjects':>8} {'objects':>8} {'subj/pair':>9} {'obj/pair':>9} {'G(p)':>8} {'paths':>8} "
        f"{'facts/path':>10}  relation",
        *map(_row, report["relations"]),
    ]
    if "paths" in report:
        (row,) = report["relations"]
        lines += [
            "",
            f"{row['facts_with_a_path']} of {row['facts_searched']} facts have a path"
            f"{'; the most frequent paths:' if report['paths'] else ''}",
            *(f"{path['facts']:>8}  {' '.join(path['path'])}" for path in report["paths"]),
        ]
    return "\n".join([*lines, *(f"warning: {warning}" for warning in report["warnings"])])


def _row(row: dict[str, Any]) -> str:
    frequency = "-" if row["mean_frequency"] is None else f"{row['mean_frequency']:.1f}"
    return (
        f"{row['facts']:>8} {row['subjects']:>8} {row['objects']:>8} {row['subjects_per_pair']:>9.3f} "
        f"{row['objects_per_pair']:>9.3f} {row['mean_degree']:>8.1f} {row['paths']:>8} {frequency:>10}  "
        f"{row['relation']}"
    )


AUDIT = Generator(
    name="graph",
    version=1,
    summary="describe the relations of a knowledge graph: functionality, popularity, and paths between their entities",
    add_arguments=_add_arguments,
    make=_make,
)
