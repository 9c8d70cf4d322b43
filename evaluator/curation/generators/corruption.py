"""`split corrupted`: texts and facts in which dates, places or people have changed places (Goodrich et al. 2019)."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import msgspec

from evaluator.curation.corruption.expected import Expected
from evaluator.curation.corruption.shuffle import Exchanged, exchange_dates, exchange_names
from evaluator.curation.generators.base import Generator, Made
from evaluator.curation.generators.workspace import Bench
from evaluator.errors import GoldError, UsageError, shown
from evaluator.jsonl.ids import Id, IdRegister
from evaluator.jsonl.reader import Format, Reader
from evaluator.jsonl.strict_json import Shape
from evaluator.progress import Steps
from evaluator.statistics.random_streams import draws
from evaluator.tasks.fact_extraction.layout import GOLD, GoldText

KINDS = ("dates", "places", "people")
_EVERY = 1000


class _Mentions(msgspec.Struct, gc=False):
    id: str | int
    mentions: list[str]


_MENTIONS = Format(_Mentions, Shape(frozenset({"id", "mentions"})), lambda _: 2)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("gold", type=Path, help="gold of fact-extraction, JSON Lines; .gz is unpacked")
    add("--kind", choices=KINDS, required=True, help="what changes places; dates are found by how they are written")
    add("--mentions", type=Path, help='JSON Lines {"id": ..., "mentions": [name, ...]}: the places (people) of a text')
    add("--objects-of", nargs="+", default=[], metavar="RELATION", help="relations whose objects are such names")
    add("--subjects-of", nargs="+", default=[], metavar="RELATION", help="relations whose subjects are such names")
    add("--keep-subject", action="store_true", help="the name that the gold line gives as its subject stays")


def _make(given: argparse.Namespace, bench: Bench) -> Made:
    told = given.mentions is not None or given.objects_of or given.subjects_of
    if given.kind == "dates" and told:
        raise UsageError("dates are found by how they are written, expected neither --mentions nor relations")
    if given.kind != "dates" and not told:
        raise UsageError(
            f"nothing says which names are {given.kind}, expected --mentions, --objects-of or --subjects-of"
        )
    lines = _read_gold(given, bench)
    named = _read_mentions(given, bench, {line.id for line in lines}) if given.mentions else {}
    found = {relation for line in lines for _, relation, _ in line.facts}
    if missing := sorted({*given.objects_of, *given.subjects_of} - found):
        raise UsageError(f"no fact has the relation {shown(missing[0])}, expected one that gold has")
    expected, unchanged, progress = Expected(), Expected(), Steps(len(lines))
    n = dict.fromkeys(("texts", "texts_changed", "mentions", "mentions_moved"), 0)
    encode = msgspec.json.Encoder().encode
    with_text = any(line.text is not msgspec.UNSET for line in lines)
    predictions = bench.output("predictions.jsonl")
    inputs = bench.output("inputs.jsonl") if with_text else None
    for number, line in enumerate(lines, 1):
        made = _exchanged(line, given, named.get(line.id, ()))
        predictions.write(encode({"id": line.id, "facts": made.facts}) + b"\n")
        if inputs is not None:
            held = {"id": line.id, "text": made.text, "subject": made.subject}
            inputs.write(encode({key: value for key, value in held.items() if value is not None}) + b"\n")
        expected.add(line.facts, made.facts)
        unchanged.add(line.facts, line.facts)
        n["texts"] += 1
        n["texts_changed"] += made.moved > 0
        n["mentions"] += made.mentions
        n["mentions_moved"] += made.moved
        if number % _EVERY == 0:
            progress.add(_EVERY)
    report: dict[str, Any] = {
        "kind": given.kind,
        **n,
        "gold_facts": unchanged.facts,
        "facts": expected.facts,
        "right": expected.right,
        "expected_accuracy": expected.accuracy,
        "verifiable": expected.verifiable,
        "expected_fact_acc": expected.fact_acc,
    }
    return Made(report, _text(report))


def _exchanged(line: GoldText, given: argparse.Namespace, mentions: Any) -> Exchanged:
    text = None if line.text is msgspec.UNSET else line.text
    subject = None if line.subject is msgspec.UNSET else line.subject
    rng = draws(given.seed, "exchange", given.kind, type(line.id).__name__, str(line.id))
    if given.kind == "dates":
        return exchange_dates(line.facts, text, subject, rng)
    names = {
        *mentions,
        *(object_ for _, relation, object_ in line.facts if relation in given.objects_of),
        *(subject for subject, relation, _ in line.facts if relation in given.subjects_of),
    }
    names.discard("")
    if given.keep_subject and subject is not None:
        names.discard(subject)
    return exchange_names(line.facts, text, subject, names, rng)


def _read_gold(given: argparse.Namespace, bench: Bench) -> list[GoldText]:
    reader = Reader(str(given.gold), GOLD, GoldError)
    register = IdRegister(reader.problems)
    lines = [line for number, line in reader.records(bench.input("gold", given.gold)) if register.add(line.id, number)]
    reader.problems.raise_if_any()
    return lines


def _read_mentions(given: argparse.Namespace, bench: Bench, ids: set[Id]) -> dict[Id, list[str]]:
    reader = Reader(str(given.mentions), _MENTIONS, GoldError)
    register = IdRegister(reader.problems)
    named: dict[Id, list[str]] = {}
    for number, line in reader.records(bench.input("mentions", given.mentions)):
        if line.id not in ids:
            reader.problems.add(number, "unknown id", shown(line.id), "one that the gold has")
        elif register.add(line.id, number):
            named[line.id] = line.mentions
    reader.problems.raise_if_any()
    return named


def _text(report: dict[str, Any]) -> str:
    share = "none" if report["expected_accuracy"] is None else f"{report['expected_accuracy']:.4f}"
    acc = "none" if report["expected_fact_acc"] is None else f"{report['expected_fact_acc']:.4f}"
    return (
        f"{report['mentions_moved']} of {report['mentions']} {report['kind']} have changed places, in "
        f"{report['texts_changed']} of {report['texts']} texts\n"
        f"{report['right']} of {report['facts']} facts are left right: expected accuracy {share}\n"
        f"{report['right']} of {report['verifiable']} that gold can judge: expected fact_acc {acc}"
    )


GENERATOR = Generator(
    name="corrupted",
    version=1,
    summary="make texts and facts in which dates, places or people have changed places, with the accuracy to expect",
    add_arguments=_add_arguments,
    make=_make,
)
