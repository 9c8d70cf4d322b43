"""`audit split`: one report of all checks of a test split: errors, leakage, and expected interval widths."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.workspace import Workspace
from evaluator.errors import UsageError, shown
from evaluator.exit_codes import DONE, FOUND_ERRORS


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("task", help="name of the task; `holdout-eval tasks` lists all")
    add("--gold", type=Path, required=True, help="gold of the task, or a published file of BUCKLE or FEVER Symmetric")
    add("--inputs", type=Path, help="the public inputs that will be published")
    add("--train", type=Path, action="append", default=[], help="public training data, as gold; may be repeated")
    add(
        "--annotations",
        type=Path,
        help="annotators' judgements: JSON Lines with id, annotator, and label or score; or lists",
    )
    add("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the task")
    add(
        "--near-duplicate-similarity",
        dest="near",
        type=float,
        default=0.7,
        help="Jaccard similarity from which texts count as near duplicates (default: 0.7)",
    )


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    from evaluator.curation.audit.annotators.judgement_files import read_judgements
    from evaluator.curation.audit.public_inputs import read_public_inputs
    from evaluator.curation.audit.reading import read_split
    from evaluator.curation.audit.report import AuditContext, audit
    from evaluator.curation.audit.text_report import render_text
    from evaluator.tasks.registry import find_task

    task = find_task(args.task)
    options = task.parse_options(parse_options(args.option))
    split = read_split(task, bench.input("gold", args.gold), str(args.gold), options)
    inputs, judgements = None, None
    if args.inputs is not None:
        inputs = read_public_inputs(split, bench.input("inputs", args.inputs), str(args.inputs))
    if args.annotations is not None:
        judgements = read_judgements(bench.input("annotations", args.annotations), str(args.annotations))
    context = AuditContext(
        inputs,
        [read_split(task, bench.input("train", path), str(path), options) for path in args.train],
        judgements,
        str(args.annotations),
    )
    report = audit(split, context, options, seed=args.seed, threshold=args.near)
    text = render_text(report)
    if bench.keeps:
        bench.output("audit.json").write((json.dumps(report, indent=2, ensure_ascii=False) + "\n").encode())
        bench.output("audit.txt").write(f"{text}\n".encode())
    return GeneratorResult(report, text, DONE if report["publishable"] else FOUND_ERRORS)


def parse_options(texts: list[str]) -> dict[str, str]:
    """Return name -> value of arguments NAME=VALUE. Raises UsageError for any other text."""
    options = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--option is {shown(text)}, expected NAME=VALUE")
        options[name] = value
    return options


AUDIT = Generator(
    name="split",
    version=1,
    summary="audit a test split: errors, label leakage, and the size of difference that it can detect",
    add_arguments=_add_arguments,
    make=_make,
)
