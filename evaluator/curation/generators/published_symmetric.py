"""`split published-symmetric`: FEVER Symmetric's published lines, with ids that do not reveal a line's role.

A line's role is its place among the four members of its group.
"""

from __future__ import annotations

import argparse
import hashlib
import hmac
from typing import Any

import msgspec

from evaluator.curation.audit.published_layouts import symmetric
from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.parameters import Source
from evaluator.curation.generators.symmetric import SALT
from evaluator.curation.generators.workspace import Workspace
from evaluator.curation.symmetric.build import MIN_SALT
from evaluator.errors import GoldError, ProblemList, UsageError, shown
from evaluator.tasks.fact_verification.symmetric import symmetric_problems
from evaluator.text import count_noun

_DIGITS = 16


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    if len(args.salt) < MIN_SALT:
        raise UsageError(f"the salt has {len(args.salt)} characters, expected {MIN_SALT} or more")
    file = str(args.published)
    published = symmetric(bench.input("published", args.published), file)
    decode = msgspec.json.Decoder(dict[str, Any]).decode
    lines = [decode(line) for line in published.gold]
    problems = ProblemList(file, GoldError)
    first: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        if first.setdefault(line["id"], number) != number:
            problems.add(
                number, "duplicate id", f"{shown(line['id'])} (first on line {first[line['id']]})", "each id once"
            )
    for index, problem in symmetric_problems(lines):
        # Every line of a file without problems is a record, so the index gives the line number.
        what = problem if index is None else f"group {shown(lines[index]['group'])}: {problem}"
        problems.add(None if index is None else index + 1, what)
    problems.raise_if_any()
    salted = sorted(
        (
            {**line, "id": _digest(args.salt, line["id"]), "group": _digest(args.salt, f"group {line['group']}")}
            for line in lines
        ),
        key=lambda line: str(line["id"]),
    )
    bench.write_rows("gold.jsonl", salted)
    report = {"groups": len({line["group"] for line in salted}), "lines": len(salted)}
    return GeneratorResult(
        report, f"{count_noun(report['groups'], 'group')}, {count_noun(report['lines'], 'line')}; all checks passed"
    )


def _digest(salt: str, name: str) -> str:
    return hmac.new(salt.encode(), name.encode(), hashlib.sha256).hexdigest()[:_DIGITS]


GENERATOR = Generator(
    name="published-symmetric",
    version=1,
    summary="make gold from FEVER Symmetric's published lines, with ids that do not reveal a line's role in its group",
    make=_make,
    seeded=False,
    sources=(
        Source("published", "Published pairs", "JSON Lines as FEVER Symmetric was published; .gz is decompressed"),
    ),
    parameters=(SALT,),
)
