"""`split folds`: round-robin folds by document."""

from __future__ import annotations

import argparse

import msgspec

from evaluator.curation.generators.base import Generator, Made
from evaluator.curation.generators.parameters import Kind, Parameter, Source
from evaluator.curation.generators.workspace import Bench
from evaluator.curation.io.lines import identifier, read_lines, with_key
from evaluator.curation.splitting.folds import FOLDS, MOST_FOLDS, PARTS, parse_parts, part_of_fold, round_robin
from evaluator.errors import UsageError
from evaluator.text import counted


def _make(given: argparse.Namespace, bench: Bench) -> Made:
    parts = _parts(given)
    lines, problems = read_lines(bench.input("gold", given.gold), str(given.gold))
    documents = [identifier(line, given.by, problems) for line in lines]
    if given.mark:
        for line in lines:
            if given.mark in line.value:
                problems.stop(
                    line.number, f"{given.mark} is there already", "a value", "another key to write the fold under"
                )
    problems.raise_if_any()
    folds = round_robin((document for document in documents if document is not None), given.folds)
    part_of, outputs = part_of_fold(parts), {name: bench.output(f"{name}.jsonl") for name in parts}
    n_lines = dict.fromkeys(parts, 0)
    for line, document in zip(lines, documents, strict=True):
        fold = folds[document] if document is not None else 0
        outputs[part_of[fold]].write((with_key(line.raw, given.mark, fold) if given.mark else line.raw) + b"\n")
        n_lines[part_of[fold]] += 1
    encode = msgspec.json.Encoder().encode
    bench.output("folds.jsonl").writelines(
        encode({given.by: document, "fold": fold}) + b"\n" for document, fold in folds.items()
    )
    n_documents = {name: sum(fold in own for fold in folds.values()) for name, own in parts.items()}
    report = {name: {"documents": n_documents[name], "lines": n_lines[name]} for name in parts}
    text = "\n".join(
        f"{name}: {counted(told['documents'], 'document')}, {counted(told['lines'], 'line')}"
        for name, told in report.items()
    )
    return Made(report, text)


def _parts(given: argparse.Namespace) -> dict[str, tuple[int, ...]]:
    if given.parts is None:
        return PARTS if given.folds == FOLDS else {f"fold-{fold}": (fold,) for fold in range(1, given.folds + 1)}
    parts = parse_parts(given.parts, given.folds)
    if "folds" in parts:
        raise UsageError("a part is named folds, which is the list's own name; expected another")
    return parts


GENERATOR = Generator(
    name="folds",
    version=1,
    summary="share documents out among folds in turn",
    make=_make,
    seeded=False,
    sources=(Source("gold", "Gold lines", "JSON Lines; .gz is unpacked"),),
    parameters=(
        Parameter(
            "by",
            Kind.TEXT,
            "Lines stay together by",
            "the document's key",
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
            "parts and their folds, as in train=1-3,dev=4,test=5; unless said these for five folds, else a part a fold",
            metavar="NAME=FOLDS,...",
        ),
        Parameter(
            "mark", Kind.TEXT, "Write the fold under", "write each line's fold into it, under this key", metavar="KEY"
        ),
    ),
)
