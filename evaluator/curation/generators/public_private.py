"""`split public-private`: public/private split of a held-out set, by group."""

from __future__ import annotations

import argparse
from pathlib import Path

from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.workspace import Workspace
from evaluator.curation.io.lines import identifier, of_one_type, read_lines
from evaluator.curation.splitting.public_private import split_public_private
from evaluator.text import count_noun


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("gold", type=Path, help="JSON Lines; .gz is decompressed")
    parser.add_argument("--by", default="group", help="the key of a line's group (default: group, or id without one)")
    parser.add_argument("--share", default="0.5", help="share of the groups that are public (default: 0.5)")


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    lines, problems = read_lines(bench.input("gold", args.gold), str(args.gold))
    groups = [identifier(line, args.by, problems, default="id" if args.by == "group" else "") for line in lines]
    for key in dict.fromkeys(("id", args.by)):
        of_one_type(lines, key, problems)
    problems.raise_if_any()
    split = split_public_private((group for group in groups if group is not None), seed=args.seed, share=args.share)
    counts = {"public": 0, "private": 0}
    outputs = {name: bench.output(f"{name}.jsonl") for name in counts}
    for line, group in zip(lines, groups, strict=True):
        name = "public" if group in split.public else "private"
        outputs[name].write(line.raw + b"\n")
        counts[name] += 1
    report = {name: {"groups": len(getattr(split, name)), "lines": n_lines} for name, n_lines in counts.items()}
    text = "\n".join(
        f"{name}: {count_noun(numbers['groups'], 'group')}, {count_noun(numbers['lines'], 'line')}"
        for name, numbers in report.items()
    )
    return GeneratorResult(report, text)


GENERATOR = Generator(
    name="public-private",
    version=1,
    summary="split held-out gold into a public and a private part, by group",
    add_arguments=_add_arguments,
    make=_make,
)
