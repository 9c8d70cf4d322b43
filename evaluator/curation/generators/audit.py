"""`audit split`: everything that is known to go wrong with a test split, in one report."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from evaluator.curation.generators.base import Generator, Made
from evaluator.curation.generators.workspace import Bench
from evaluator.errors import UsageError, shown
from evaluator.exit_codes import DONE, FOUND_ERRORS


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("task")
    add("--gold", type=Path, required=True, help="gold of the task; or BUCKLE's and FEVER Symmetric's published files")
    add("--inputs", type=Path, help="the public inputs as they will be published")
    add("--train", type=Path, action="append", default=[], help="public training data, as gold; may be repeated")
    add("--annotations", type=Path, help="lines {id, annotator, label or score}")
    add("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the task")
    add(
        "--near",
        type=float,
        default=0.7,
        help="from which Jaccard similarity texts are near duplicates; .7 unless said",
    )


def _make(given: argparse.Namespace, bench: Bench) -> Made:
    from evaluator.curation.audit.annotators.agreement import read_judgements
    from evaluator.curation.audit.html_report import page
    from evaluator.curation.audit.public_inputs import public
    from evaluator.curation.audit.reading import read_split
    from evaluator.curation.audit.report import Beside, audit
    from evaluator.curation.audit.text_report import told
    from evaluator.tasks.registry import find_task

    task = find_task(given.task)
    options = task.parse_options(_options(given.option))
    split = read_split(task, bench.input("gold", given.gold), str(given.gold), options)
    seen, judgements = None, None
    if given.inputs is not None:
        seen = public(split, bench.input("inputs", given.inputs), str(given.inputs))
    if given.annotations is not None:
        judgements = read_judgements(bench.input("annotations", given.annotations), str(given.annotations))
    beside = Beside(
        seen,
        [read_split(task, bench.input("train", path), str(path), options) for path in given.train],
        judgements,
        str(given.annotations),
    )
    report, findings = audit(split, beside, options, seed=given.seed, threshold=given.near)
    text = told(report, findings)
    if bench.keeps:
        bench.output("audit.json").write((json.dumps(report, indent=2, ensure_ascii=False) + "\n").encode())
        bench.output("audit.html").write(page(report).encode())
    return Made(report, text, DONE if report["publishable"] else FOUND_ERRORS)


def _options(given: list[str]) -> dict[str, str]:
    options = {}
    for text in given:
        name, found, value = text.partition("=")
        if not found:
            raise UsageError(f"--option is {shown(text)}, expected NAME=VALUE")
        options[name] = value
    return options


AUDIT = Generator(
    name="split",
    version=1,
    summary="audit a test split: what is wrong with it, what gives its answers away, and what it can tell apart",
    add_arguments=_add_arguments,
    make=_make,
)
