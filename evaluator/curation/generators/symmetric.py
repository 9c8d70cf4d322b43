"""`split symmetric` makes groups of four from original and contrary pairs of claim and evidence.

`audit symmetric` checks such a set.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.parameters import Kind, Parameter, Source
from evaluator.curation.generators.workspace import Workspace
from evaluator.curation.io.lines import RawLine, identifier, read_lines, value_text
from evaluator.curation.symmetric.build import MIN_SALT, Pair, quadruples
from evaluator.errors import GoldError, ProblemList, shown
from evaluator.tasks.fact_verification import TASK
from evaluator.tasks.fact_verification.layout import LABELS
from evaluator.tasks.fact_verification.symmetric import symmetric_problems
from evaluator.text import count_noun

SALT = Parameter("salt", Kind.SECRET, "Salt", f"a secret of {MIN_SALT} characters or more, for the ids", required=True)


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    originals = _pairs(bench, "originals", args.originals, labelled=True)
    contraries = _pairs(bench, "contraries", args.contraries, labelled=False)
    lines = quadruples(originals, contraries, salt=args.salt, files=(str(args.originals), str(args.contraries)))
    bench.write_rows("gold.jsonl", lines)
    report = {"groups": len(lines) // 4, "lines": len(lines)}
    return GeneratorResult(
        report, f"{count_noun(report['groups'], 'group')}, {count_noun(report['lines'], 'line')}; all checks passed"
    )


def _pairs(bench: Workspace, role: str, path: Path, *, labelled: bool) -> list[Pair]:
    lines, problems = read_lines(bench.input(role, path), str(path))
    pairs = list(_read(lines, problems, labelled))
    problems.raise_if_any()
    return pairs


def _read(lines: list[RawLine], problems: ProblemList, labelled: bool) -> Iterator[Pair]:
    for line in lines:
        name = identifier(line, "id", problems)
        texts = []
        for key in ("claim", "evidence_text", *(("label",) if labelled else ())):
            value = line.value.get(key)
            if isinstance(value, str):
                texts.append(value)
            else:
                problems.add(line.number, f"{key} is not a text", value_text(line.value, key), "a string")
        if name is not None and len(texts) == 2 + labelled:
            yield Pair(line.number, name, *texts)


def _add_gold(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("gold", type=Path, help="gold of fact-verification, with group and slices.origin")


def _audit(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    gold = TASK.read_gold(bench.input("gold", args.gold), str(args.gold), {})
    columns = zip(gold.claims, gold.evidence_texts, gold.labels, gold.groups, gold.slices, strict=True)
    lines: list[dict[str, Any]] = [
        {"claim": claim, "evidence_text": evidence, "label": LABELS[label], "group": group, "slices": slices}
        for claim, evidence, label, group, slices in columns
    ]
    problems = ProblemList(str(args.gold), GoldError)
    for index, problem in symmetric_problems(lines):
        # Every line of a file without problems is a record, so the index gives the line number.
        what = problem if index is None else f"group {shown(lines[index]['group'])}: {problem}"
        problems.add(None if index is None else index + 1, what)
    problems.raise_if_any()
    report = {"groups": len(set(gold.groups)), "lines": len(lines)}
    return GeneratorResult(
        report, f"{count_noun(report['groups'], 'group')}, {count_noun(report['lines'], 'line')}: symmetric"
    )


GENERATOR = Generator(
    name="symmetric",
    version=1,
    summary="make a symmetric set from original pairs and the contrary pairs written for them",
    make=_make,
    seeded=False,
    sources=(
        Source("originals", "Original pairs", "JSON Lines: id, claim, evidence_text, label"),
        Source(
            "contraries", "Contrary pairs", "JSON Lines: the original's id, and the written claim and evidence_text"
        ),
    ),
    parameters=(SALT,),
)
AUDIT = Generator(
    name="symmetric",
    version=1,
    summary="check that neither claim nor evidence alone predicts the labels of a symmetric set",
    add_arguments=_add_gold,
    make=_audit,
    seeded=False,
)
