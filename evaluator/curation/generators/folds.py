"""`split folds`: round-robin folds by document."""

from __future__ import annotations

import argparse

from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.parameters import Kind, Parameter, Source
from evaluator.curation.generators.workspace import Workspace
from evaluator.curation.io.lines import identifier, read_lines, with_key
from evaluator.curation.splitting.folds import FOLDS, MOST_FOLDS, PARTS, parse_parts, part_of_fold, round_robin
from evaluator.errors import UsageError
from evaluator.text import count_noun


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    parts = _parts(args)
    if args.mark == "":
        raise UsageError("--mark is empty, expected a key")
    lines, problems = read_lines(bench.input("gold", args.gold), str(args.gold))
    documents = [identifier(line, args.by, problems) for line in lines]
    if args.mark:
        for line in lines:
            if args.mark in line.value:
                problems.stop(line.number, f"the line already has the key {args.mark}", "", "a key that no line has")
    problems.raise_if_any()
    folds = round_robin((document for document in documents if document is not None), args.folds)
    part_of, outputs = part_of_fold(parts), {name: bench.output(f"{name}.jsonl") for name in parts}
    n_lines = dict.fromkeys(parts, 0)
    for line, document in zip(lines, documents, strict=True):
        fold = folds[document] if document is not None else 0
        outputs[part_of[fold]].write((with_key(line.raw, args.mark, fold) if args.mark else line.raw) + b"\n")
        n_lines[part_of[fold]] += 1
    bench.write_rows("folds.jsonl", ({args.by: document, "fold": fold} for document, fold in folds.items()))
    n_documents = {name: sum(fold in part_folds for fold in folds.values()) for name, part_folds in parts.items()}
    report = {name: {"documents": n_documents[name], "lines": n_lines[name]} for name in parts}
    text = "\n".join(
        f"{name}: {count_noun(counts['documents'], 'document')}, {count_noun(counts['lines'], 'line')}"
        for name, counts in report.items()
    )
    return GeneratorResult(report, text)


def _parts(args: argparse.Namespace) -> dict[str, tuple[int, ...]]:
    if args.parts is None:
        return PARTS if args.folds == FOLDS else {f"fold-{fold}": (fold,) for fold in range(1, args.folds + 1)}
    parts = parse_parts(args.parts, args.folds)
    if "folds" in parts:
        raise UsageError(
            "a part is named folds, but folds.jsonl is the name of the list of all folds; expected another name"
        )
    return parts


GENERATOR = Generator(
    name="folds",
    version=1,
    summary="assign documents to folds in turn (round-robin)",
    make=_make,
    seeded=False,
    sources=(Source("gold", "Gold lines", "JSON Lines; .gz is decompressed"),),
    parameters=(
        Parameter(
            "by",
            Kind.TEXT,
            "Keep lines together by",
            "the key of the document",
            default="documentId",
            metavar="KEY",
        ),
        Parameter(
            "folds",
            Kind.WHOLE,
            "Number of folds",
            f"from 2 to {MOST_FOLDS}",
            default=FOLDS,
            lowest=2,
            highest=MOST_FOLDS,
            metavar="N",
        ),
        Parameter(
            "parts",
            Kind.TEXT,
            "Parts and their folds",
            "such as train=1-3,dev=4,test=5, the default for 5 folds; otherwise each fold becomes one part",
            metavar="NAME=FOLDS,...",
        ),
        Parameter(
            "mark",
            Kind.TEXT,
            "Key for the fold number",
            "add the fold's number to each line under this key; without it, none is added",
            metavar="KEY",
        ),
    ),
)
