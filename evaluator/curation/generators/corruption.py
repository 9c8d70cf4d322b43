"""`split corrupt`: texts and facts with permuted dates, places or people (Goodrich et al. 2019)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import msgspec

from evaluator.curation.corruption.expected import Expected
from evaluator.curation.corruption.shuffle import Permuted, permute_dates, permute_names
from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.workspace import Workspace
from evaluator.errors import GoldError, UsageError, shown
from evaluator.jsonl.ids import Id, IdRegister
from evaluator.jsonl.reader import Format, Reader
from evaluator.jsonl.strict_json import Schema
from evaluator.progress import Steps
from evaluator.statistics.random_streams import random_stream
from evaluator.tasks.fact_extraction.layout import GOLD, GoldText

KINDS = ("dates", "places", "people")
_PROGRESS_STEP = 1000


class _Mentions(msgspec.Struct, gc=False):
    id: str | int
    mentions: list[str]


_MENTIONS = Format(_Mentions, Schema(frozenset({"id", "mentions"})), lambda _: 2)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("gold", type=Path, help="gold of fact-extraction, JSON Lines; .gz is decompressed")
    add("--kind", choices=KINDS, required=True, help="the names to permute; dates are recognised by their format")
    add("--mentions", type=Path, help='JSON Lines {"id": ..., "mentions": [name, ...]}: the places or people in a text')
    add(
        "--objects-of",
        action="extend",
        nargs="+",
        default=[],
        metavar="RELATION",
        help="relations whose objects are such places or people",
    )
    add(
        "--subjects-of",
        action="extend",
        nargs="+",
        default=[],
        metavar="RELATION",
        help="relations whose subjects are such places or people",
    )
    add("--keep-subject", action="store_true", help="do not permute the name in the gold line's subject")


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    has_name_options = args.mentions is not None or args.objects_of or args.subjects_of
    if args.kind == "dates" and has_name_options:
        raise UsageError(
            "--kind is dates, which are recognised by their format, expected no --mentions, --objects-of or "
            "--subjects-of"
        )
    if args.kind != "dates" and not has_name_options:
        raise UsageError(
            f"--kind {args.kind} needs a list of names, because only dates are recognised by their format, expected "
            "--mentions, --objects-of or --subjects-of"
        )
    lines = _read_gold(args, bench)
    mentions = _read_mentions(args, bench, {line.id for line in lines}) if args.mentions else {}
    relations = {relation for line in lines for _, relation, _ in line.facts}
    if missing := sorted({*args.objects_of, *args.subjects_of} - relations):
        raise UsageError(f"no fact has the relation {shown(missing[0])}, expected a relation of the gold")
    expected, unchanged, progress = Expected(), Expected(), Steps(len(lines))
    counts = dict.fromkeys(("texts", "texts_changed", "mentions", "mentions_moved"), 0)
    encode = msgspec.json.Encoder().encode
    with_text = any(line.text is not msgspec.UNSET for line in lines)
    predictions = bench.output("predictions.jsonl")
    inputs = bench.output("inputs.jsonl") if with_text else None
    for number, line in enumerate(lines, 1):
        permuted = _permute(line, args, mentions.get(line.id, ()))
        predictions.write(encode({"id": line.id, "facts": permuted.facts}) + b"\n")
        if inputs is not None:
            record = {"id": line.id, "text": permuted.text, "subject": permuted.subject}
            inputs.write(encode({key: value for key, value in record.items() if value is not None}) + b"\n")
        expected.add(line.facts, permuted.facts)
        unchanged.add(line.facts, line.facts)
        counts["texts"] += 1
        counts["texts_changed"] += permuted.replaced > 0
        counts["mentions"] += permuted.mentions
        counts["mentions_moved"] += permuted.replaced
        if number % _PROGRESS_STEP == 0:
            progress.add(_PROGRESS_STEP)
    report: dict[str, Any] = {
        "kind": args.kind,
        **counts,
        "gold_facts": unchanged.facts,
        "facts": expected.facts,
        "right": expected.right,
        "expected_accuracy": expected.accuracy,
        "verifiable": expected.verifiable,
        "expected_fact_acc": expected.fact_acc,
    }
    return GeneratorResult(report, _text(report))


def _permute(line: GoldText, args: argparse.Namespace, mentions: Any) -> Permuted:
    text = None if line.text is msgspec.UNSET else line.text
    subject = None if line.subject is msgspec.UNSET else line.subject
    rng = random_stream(args.seed, "exchange", args.kind, type(line.id).__name__, str(line.id))
    if args.kind == "dates":
        return permute_dates(line.facts, text, subject, rng)
    names = {
        *mentions,
        *(object_ for _, relation, object_ in line.facts if relation in args.objects_of),
        *(subject for subject, relation, _ in line.facts if relation in args.subjects_of),
    }
    names.discard("")
    if args.keep_subject and subject is not None:
        names.discard(subject)
    return permute_names(line.facts, text, subject, names, rng)


def _read_gold(args: argparse.Namespace, bench: Workspace) -> list[GoldText]:
    reader = Reader(str(args.gold), GOLD, GoldError)
    register = IdRegister(reader.problems)
    lines = [line for number, line in reader.records(bench.input("gold", args.gold)) if register.add(line.id, number)]
    reader.problems.raise_if_any()
    return lines


def _read_mentions(args: argparse.Namespace, bench: Workspace, ids: set[Id]) -> dict[Id, list[str]]:
    reader = Reader(str(args.mentions), _MENTIONS, GoldError)
    register = IdRegister(reader.problems)
    mentions: dict[Id, list[str]] = {}
    for number, line in reader.records(bench.input("mentions", args.mentions)):
        if line.id not in ids:
            reader.problems.add(number, "unknown id", shown(line.id), "an id of the gold")
        elif register.add(line.id, number):
            mentions[line.id] = line.mentions
    reader.problems.raise_if_any()
    return mentions


def _text(report: dict[str, Any]) -> str:
    share = "none" if report["expected_accuracy"] is None else f"{report['expected_accuracy']:.4f}"
    acc = "none" if report["expected_fact_acc"] is None else f"{report['expected_fact_acc']:.4f}"
    return (
        f"{report['mentions_moved']} of {report['mentions']} {report['kind']} changed by the permutation, in "
        f"{report['texts_changed']} of {report['texts']} texts\n"
        f"{report['right']} of {report['facts']} facts are still correct: expected accuracy {share}\n"
        f"{report['right']} of {report['verifiable']} facts that the gold can verify: expected fact_acc {acc}"
    )


GENERATOR = Generator(
    name="corrupt",
    version=2,
    summary="permute the dates, places or people of each text and its facts, and compute the expected accuracy",
    add_arguments=_add_arguments,
    make=_make,
)
