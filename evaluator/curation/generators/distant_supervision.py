"""`split label-distantly`: gold of fact-extraction by distant supervision, as WikiFact was made (Goodrich et al. 2019).

A text is assumed to state a triple of the graph if it mentions the triple's subject and object.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from evaluator.curation.corruption.dates import find_dates
from evaluator.curation.corruption.names import names_in
from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.parameters import Source
from evaluator.curation.generators.workspace import Workspace
from evaluator.curation.graph.files import rows
from evaluator.errors import GoldError, InputsError, ProblemList, shown
from evaluator.jsonl.ids import Id, IdRegister
from evaluator.jsonl.reader import Format, Reader
from evaluator.jsonl.strict_json import Schema
from evaluator.progress import Steps
from evaluator.tasks.fact_extraction.layout import INPUTS, InputText
from evaluator.text import count_noun

_PROGRESS_STEP = 1000


class _Mention(msgspec.Struct, gc=False):
    name: str
    entity: str


class _Mentions(msgspec.Struct, gc=False):
    id: str | int
    mentions: list[str | _Mention]


_MENTIONS = Format(
    _Mentions,
    Schema(frozenset({"id", "mentions"}), {"mentions": Schema(frozenset({"name", "entity"}))}),
    lambda line: 2 + 2 * sum(isinstance(mention, _Mention) for mention in line.mentions),
)

Triples = dict[str, dict[str, list[str]]]
"""The relations between two entities: subject -> object -> relations."""


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    lines = _read_texts(args, bench)
    names, absent = _read_mentions(args, bench, lines)
    for line in lines.values():
        # A date stands for itself, in the form 1901-05-03. So does the subject, unless it is a mention.
        dates = (f"{year:04d}-{month:02d}-{day:02d}" for (year, month, day), _, _ in find_dates(str(line.text)))
        entities = names.setdefault(line.id, {})
        entities.update({date: date for date in dates if date not in entities})
        if isinstance(line.subject, str) and line.subject not in entities.values():
            entities.setdefault(line.subject, line.subject)
    triples = _read_graph(args, bench, {entity for entities in names.values() for entity in entities})
    encode = msgspec.json.Encoder().encode
    gold, progress = bench.output("gold.jsonl"), Steps(len(lines))
    relations: dict[str, int] = {}
    n_facts = n_stating = 0
    for number, line in enumerate(lines.values(), 1):
        facts = facts_of(names[line.id], triples)
        for _, relation, _ in facts:
            relations[relation] = relations.get(relation, 0) + 1
        n_facts += len(facts)
        n_stating += bool(facts)
        record = {"id": line.id, "text": line.text, "subject": line.subject, "facts": facts}
        gold.write(encode({key: value for key, value in record.items() if value is not msgspec.UNSET}) + b"\n")
        if number % _PROGRESS_STEP == 0:
            progress.add(_PROGRESS_STEP)
    report: dict[str, Any] = {
        "texts": len(lines),
        "texts_with_facts": n_stating,
        "mentions_not_in_text": absent,
        "facts": n_facts,
        "relations": dict(sorted(relations.items())),
    }
    text = (
        f"{count_noun(n_facts, 'fact')} of {count_noun(len(relations), 'relation')} in {n_stating} of "
        f"{count_noun(len(lines), 'text')}; {count_noun(absent, 'mention')} not in the text ignored"
    )
    return GeneratorResult(report, text)


def facts_of(names: Mapping[str, str], triples: Triples) -> list[tuple[str, str, str]]:
    """Return the facts of a text, sorted: the graph's triples between entities that the text mentions.

    names: entity -> its name in the facts, for each entity that the text mentions. triples: triples of the graph.
    Triples of an entity with itself are left out.
    """
    return sorted(
        {
            (names[subject], relation, names[object_])
            for subject in names
            if subject in triples
            for object_, relations in triples[subject].items()
            if object_ in names and object_ != subject
            for relation in relations
        }
    )


def _read_texts(args: argparse.Namespace, bench: Workspace) -> dict[Id, InputText]:
    reader = Reader(str(args.texts), INPUTS, InputsError)
    register = IdRegister(reader.problems)
    lines: dict[Id, InputText] = {}
    for number, line in reader.records(bench.input("texts", args.texts)):
        if line.text is msgspec.UNSET:
            reader.problems.add(number, "text is missing", "no such key", "the text that facts are in")
        elif register.add(line.id, number):
            lines[line.id] = line
    reader.problems.raise_if_any()
    return lines


def _read_mentions(
    args: argparse.Namespace, bench: Workspace, lines: Mapping[Id, InputText]
) -> tuple[dict[Id, dict[str, str]], int]:
    """Return ({id of a text: {entity: name}}, the number of listed mentions that do not occur in their text).

    lines: id -> text. An entity's name is the text's subject if that is one of its mentions, else its first mention
    that occurs in the text. Raises GoldError for an invalid line, an unknown id or a repeated id.
    """
    reader = Reader(str(args.mentions), _MENTIONS, GoldError)
    register = IdRegister(reader.problems)
    names: dict[Id, dict[str, str]] = {}
    absent = 0
    for number, line in reader.records(bench.input("mentions", args.mentions)):
        if line.id not in lines:
            reader.problems.add(number, "unknown id", shown(line.id), "an id of the texts")
        elif register.add(line.id, number):
            text, subject = str(lines[line.id].text), lines[line.id].subject
            pairs = [(item, item) if isinstance(item, str) else (item.name, item.entity) for item in line.mentions]
            listed = {name for name, _ in pairs}
            present = {name for name in listed if names_in(text, {name})}
            entities = names.setdefault(line.id, {})
            for name, entity in pairs:
                if name == subject:
                    entities[entity] = name
                elif name in present:
                    entities.setdefault(entity, name)
                else:
                    absent += 1
    reader.problems.raise_if_any()
    return names, absent


def _read_graph(args: argparse.Namespace, bench: Workspace, entities: set[str]) -> Triples:
    """Return the graph's triples whose subject and object are both in `entities`. Raises GoldError if it is invalid."""
    triples: Triples = {}
    paths: Sequence[Path] = args.graph
    for path in paths:
        problems = ProblemList(str(path), GoldError)
        for number, columns in rows(bench.input("graph", path), problems):
            if len(columns) < 3 or not all(columns[:3]):
                problems.add(
                    number,
                    "not a triple",
                    count_noun(len(columns), "column"),
                    "subject, relation and object, tab-separated",
                )
            elif columns[0] in entities and columns[2] in entities:
                relations = triples.setdefault(columns[0], {}).setdefault(columns[2], [])
                if columns[1] not in relations:
                    relations.append(columns[1])
        problems.raise_if_any()
    return triples


GENERATOR = Generator(
    name="label-distantly",
    version=1,
    summary="label texts with the triples of a graph whose subject and object they mention (distant supervision)",
    sources=(
        Source("texts", "Texts", "inputs of fact-extraction with text, JSON Lines; .gz is decompressed"),
        Source(
            "mentions",
            "Mentions",
            'JSON Lines {"id": ..., "mentions": [...]}: names in a text, or {"name": ..., "entity": ...} if the graph '
            "has other names",
            flag="--mentions",
        ),
        Source(
            "graph", "Graph", "triples, tab-separated; may be repeated", flag="--graph", several=True, repeated=True
        ),
    ),
    make=_make,
    seeded=False,
)
