"""Generator that copies a gold file, byte for byte. It is offered on the site only, not on the command line."""

from __future__ import annotations

import argparse

from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.parameters import Source
from evaluator.curation.generators.workspace import Workspace
from evaluator.curation.io.lines import read_lines
from evaluator.text import count_noun


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    lines, problems = read_lines(bench.input("gold", args.gold), str(args.gold))
    problems.raise_if_any()
    bench.output("gold.jsonl").writelines(line.raw + b"\n" for line in lines)
    return GeneratorResult({"lines": len(lines)}, f"{count_noun(len(lines), 'line')}, unchanged")


GENERATOR = Generator(
    name="as-it-is",
    version=1,
    summary="copy a file that is already gold",
    make=_make,
    seeded=False,
    sources=(Source("gold", "Gold lines", "JSON Lines in the task's own gold format; .gz is decompressed"),),
)
