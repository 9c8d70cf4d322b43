"""`split holdout`: random hold-out split with whole groups, stratified."""

from __future__ import annotations

import argparse
import json
from collections import Counter
from typing import Any

from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.parameters import Kind, Parameter, Source
from evaluator.curation.generators.workspace import Workspace
from evaluator.curation.io.lines import RawLine, identifier, of_one_type, read_lines
from evaluator.curation.splitting.folds import PART_NAME
from evaluator.curation.splitting.holdout import holdouts
from evaluator.errors import ProblemList, UsageError, shown
from evaluator.text import count_noun

_MISSING = object()


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    shares = _shares(args.parts)
    lines, problems = read_lines(bench.input("gold", args.gold), str(args.gold))
    groups = [identifier(line, args.by, problems, default="id" if args.by == "group" else "") for line in lines]
    for key in dict.fromkeys(("id", args.by)):
        of_one_type(lines, key, problems)
    strata = [_stratum(line, args.stratify, problems) for line in lines]
    problems.raise_if_any()
    split = holdouts([group for group in groups if group is not None], strata, shares=shares, seed=args.seed)
    outputs = {name: bench.output(f"{name}.jsonl") for name in shares}
    for line, group in zip(lines, groups, strict=True):
        if group is not None:
            outputs[split.part_of[group]].write(line.raw + b"\n")
    n_groups, totals = Counter(split.part_of.values()), Counter(strata)
    report: dict[str, Any] = {
        name: {
            "groups": n_groups[name],
            "lines": sum(split.rows.get((name, stratum), 0) for stratum in totals),
            "strata": {stratum: split.rows.get((name, stratum), 0) for stratum in sorted(totals)},
        }
        for name in shares
    }
    return GeneratorResult(report, "\n".join(_summary(name, counts) for name, counts in report.items()))


def _summary(name: str, counts: dict[str, Any]) -> str:
    strata = counts["strata"]
    detail = "" if len(strata) < 2 else "; " + ", ".join(f"{stratum}: {n}" for stratum, n in list(strata.items())[:20])
    more = f", and {len(strata) - 20} more strata" if len(strata) > 20 else ""
    return f"{name}: {count_noun(counts['groups'], 'group')}, {count_noun(counts['lines'], 'line')}{detail}{more}"


def _shares(text: str) -> dict[str, str]:
    shares: dict[str, str] = {}
    for piece in text.split(","):
        name, equals, share = piece.partition("=")
        if not equals or not PART_NAME.fullmatch(name):
            raise UsageError(
                f"part is {shown(piece)}, expected NAME=SHARE, such as test=0.2; a name has up to 60 letters, digits, "
                "_ and -"
            )
        if name in shares:
            raise UsageError(f"the part {name} is given twice; each part needs its own name")
        shares[name] = share
    return shares


def _stratum(line: RawLine, keys: list[str], problems: ProblemList) -> str:
    """Return the line's stratum: its values under the stratification keys, joined.

    A key names a dimension of `slices`, or else a field of the line. A key without a string, number or Boolean is added
    to `problems`.
    """
    slices = line.value.get("slices")
    values = []
    for key in keys:
        value = slices[key] if isinstance(slices, dict) and key in slices else line.value.get(key, _MISSING)
        if value is _MISSING or not isinstance(value, str | int | float):
            what = "no such key" if value is _MISSING else "a value of another type"
            problems.add(line.number, f"{key} cannot be a stratum", what, "a string, a number, true or false")
            continue
        values.append(value if isinstance(value, str) else json.dumps(value))
    return " / ".join(values)


GENERATOR = Generator(
    name="holdout",
    version=2,
    summary="assign groups to parts at random, with the same shares in each stratum",
    make=_make,
    sources=(Source("gold", "Gold lines", "JSON Lines; .gz is decompressed"),),
    parameters=(
        Parameter(
            "parts",
            Kind.TEXT,
            "Parts and their shares",
            "comma-separated names of parts and their shares of the lines, as NAME=SHARE",
            default="train=0.8,test=0.2",
            metavar="NAME=SHARE,...",
        ),
        Parameter(
            "by",
            Kind.TEXT,
            "Keep lines together by",
            "the key of the group whose lines stay together; a line without a group counts as its own group",
            default="group",
            metavar="KEY",
        ),
        Parameter(
            "stratify",
            Kind.KEYS,
            "Stratify by",
            "a key of the line, or a slice; may be repeated",
            default=[],
            metavar="KEY",
        ),
    ),
)
