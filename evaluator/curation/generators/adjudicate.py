"""`split adjudicate`: gold from the judgements of several annotators, and the items that still have to be judged."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from evaluator.curation.adjudication.decisions import Mentions, Span, decide
from evaluator.curation.audit.annotators.agreement import statistics
from evaluator.curation.audit.annotators.judgement_files import Judgements, read_judgements
from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.parameters import Kind, Parameter, Source
from evaluator.curation.generators.workspace import Workspace
from evaluator.curation.io.lines import RawLine, identifier, of_one_type, read_lines, value_text
from evaluator.errors import GoldError, ProblemList, UsageError, shown
from evaluator.jsonl.ids import Id, format_ids
from evaluator.statistics.random_streams import random_stream
from evaluator.text import count_noun

_MOST_NAMED = 1000
_RESERVED = ("group", "id", "judged_by", "slices")
"""Keys that have another meaning in the outputs."""
_ANSWERS = ("label", "score")
"""Keys whose values in the items are replaced: answers of an earlier round."""
_SPANS = "a list of [start, end], whole numbers with 0 <= start < end"


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    if args.key in _RESERVED:
        raise UsageError(f"--key is {shown(args.key)}, expected a key other than {', '.join(_RESERVED)}")
    judgements = _read_all(args, bench)
    key = args.key or ("score" if judgements.scores else "label")
    items = _read_items(args, bench, judgements.units, key)
    decided = {name: decide(judgements.units.get(name, ()), scores=judgements.scores) for name in items}
    left = [name for name, value in decided.items() if value is None]
    judged_by: dict[Id, list[Id]] = {name: [] for name in items}
    for name, annotator, _ in judgements.named:
        judged_by[name].append(annotator)
    gold = ({**items[name], key: value} for name, value in decided.items() if value is not None)
    bench.write_rows("gold.jsonl", gold)
    # No judgement is in these two files, so that nobody sees those of others.
    bench.write_rows("left.jsonl", ({**_without(items[name], key), "judged_by": judged_by[name]} for name in left))
    again = _sample([name for name, value in decided.items() if value is not None], args.again, args.seed)
    bench.write_rows("again.jsonl", (_without(items[name], key) for name in again))
    report: dict[str, Any] = {
        "decided": len(decided) - len(left),
        "left": len(left),
        "again": len(again),
        "agreement": _plain(statistics(judgements)),
    }
    text = [
        f"{count_noun(report['decided'], 'item')} decided, {report['left']} left to judge"
        + (f": {_names(left)}" if left else ""),
        f"{count_noun(len(again), 'decided item')} to judge again" + (f": {_names(again)}" if again else ""),
        *_agreement_text(report["agreement"], "ordinal" if judgements.scores else "nominal"),
    ]
    if args.mentions:
        mentions = _read_mentions(args, bench)
        texts = ({"id": name, "mentions": mentions.union(name)} for name in mentions.of_text)
        bench.write_rows("mentions.jsonl", texts)
        n_mentions = sum(len(mentions.union(name)) for name in mentions.of_text)
        report["mentions"] = _plain({"texts": len(mentions.of_text), "union": n_mentions, "f1": mentions.agreement()})
        counts = f"{count_noun(len(mentions.of_text), 'text')} with {count_noun(n_mentions, 'mention')}"
        text.append(f"{counts}; F1 of two annotators {_shown(mentions.agreement())}")
    return GeneratorResult(report, "\n".join(text))


def _read_all(args: argparse.Namespace, bench: Workspace) -> Judgements:
    """Read all files of judgements as one.

    Raises GoldError if the files mix labels with scores or ids of two types, or if an annotator judges an item twice.
    """
    together = Judgements([], scores=False)
    seen: dict[tuple[Id, Id], str] = {}
    for path in args.annotations:
        file = str(path)
        read = read_judgements(bench.input("annotations", path), file)
        problems = ProblemList(file, GoldError)
        if together.rows and read.scores != together.scores:
            found, expected = ("scores", "labels") if read.scores else ("labels", "scores")
            problems.add(None, "the judgements are of another kind", found, f"{expected}, as in {args.annotations[0]}")
        elif together.rows and read.rows and type(read.rows[0][0]) is not type(together.rows[0][0]):
            problems.add(None, "ids have another type", shown(read.rows[0][0]), f"ids as in {args.annotations[0]}")
        for name, annotator, _ in read.named:
            if (name, annotator) in seen:
                found = f"item {shown(name)} by {shown(annotator)}, also in {seen[name, annotator]}"
                problems.add(None, "an annotator judges an item twice", found, "one judgement")
            seen[name, annotator] = file
        problems.raise_if_any()
        together = Judgements([*together.rows, *read.rows], read.scores)
    return together


def _read_items(args: argparse.Namespace, bench: Workspace, judged: Iterable[Id], key: str) -> dict[Id, dict[str, Any]]:
    """Return id -> line of the file --items; without this file, id -> an object with only the id, for each judged item.

    judged: the ids of judged items. key: the key of the answer. Raises GoldError for an invalid or repeated id, if the
    file lacks a judged item, or if an item has the key already and it is none of _ANSWERS.
    """
    if args.items is None:
        return {name: {"id": name} for name in judged}
    lines, problems = read_lines(bench.input("items", args.items), str(args.items))
    of_one_type(lines, "id", problems)
    items: dict[Id, dict[str, Any]] = {}
    for line in lines:
        name = identifier(line, "id", problems)
        if name is None:
            continue
        if name in items:
            problems.add(line.number, "duplicate id", shown(name), "each id once")
        if key in line.value and key not in _ANSWERS:
            problems.add(line.number, f"the item already has the key {key}", "", "a key that no item has")
        items[name] = line.value
    unknown = [name for name in judged if name not in items]
    if unknown:
        problems.add(None, "judged items are missing", format_ids(unknown), "every judged item")
    problems.raise_if_any()
    return items


def _read_mentions(args: argparse.Namespace, bench: Workspace) -> Mentions:
    mentions = Mentions()
    for path in args.mentions:
        lines, problems = read_lines(bench.input("mentions", path), str(path))
        of_one_type(lines, "id", problems)
        for line in lines:
            name, annotator = identifier(line, "id", problems), identifier(line, "annotator", problems)
            spans = _spans(line, problems)
            if name is None or annotator is None or spans is None:
                continue
            if annotator in mentions.of_text.get(name, {}):
                found = f"text {shown(name)} again by {shown(annotator)}"
                problems.add(line.number, "an annotator marks a text twice", found, "one line")
            mentions.add(name, annotator, spans)
        problems.raise_if_any()
    return mentions


def _spans(line: RawLine, problems: ProblemList) -> list[Span] | None:
    try:
        spans = msgspec.convert(line.value.get("mentions"), list[tuple[int, int]])
    except msgspec.ValidationError:
        spans = None
    if spans is None or not all(0 <= start < end for start, end in spans):
        problems.add(line.number, "mentions is not valid", value_text(line.value, "mentions"), _SPANS)
        return None
    return spans


def _sample(names: list[Id], percentage: int, seed: int) -> list[Id]:
    """Return a random sample of the ids, in the order of `names`.

    names: the ids. percentage: the size of the sample in percent of them, rounded up to a whole number. For any order
    of `names`, the sample has the same ids.
    """
    size = -(-len(names) * percentage // 100)
    chosen = {*random_stream(seed, "adjudicate", "again").sample(sorted(names, key=str), size)}
    return [name for name in names if name in chosen]


def _without(item: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != key}


def _names(names: list[Id]) -> str:
    """Return the first _MOST_NAMED ids as text, and the number of further ones, for the text report.

    names: the ids. The site shows no other ids.
    """
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(map(shown, names[:_MOST_NAMED])) + more


def _plain(values: Any) -> Any:
    """Return the JSON values with null in place of NaN, which JSON lacks."""
    if isinstance(values, dict):
        return {key: _plain(value) for key, value in values.items()}
    if isinstance(values, list):
        return [_plain(value) for value in values]
    return None if isinstance(values, float) and math.isnan(values) else values


def _agreement_text(stats: dict[str, Any], level: str) -> Iterator[str]:
    items = count_noun(stats["items"], "item")
    yield (
        f"{count_noun(stats['annotators'], 'annotator')}, {stats['judged_twice']} of {items} "
        f"judged twice or more; equal pairs {_shown(stats['percent'])}; "
        f"Krippendorff's {level} alpha {_shown(stats['alpha'][level])}"
    )
    for pair in stats["pairs"]:
        a, b = map(shown, pair["annotators"])
        measures = f"equal {_shown(pair['percent'])}, kappa {_shown(pair['kappa'])}"
        yield f"{a} and {b}: {count_noun(pair['n'], 'item')}, {measures}"


def _shown(value: float | None) -> str:
    return "undefined" if value is None or math.isnan(value) else f"{value:.3f}"


GENERATOR = Generator(
    name="adjudicate",
    version=1,
    summary="make gold from annotators' judgements, and list the items that are left to judge",
    make=_make,
    sources=(
        Source(
            "annotations",
            "Judgements",
            "JSON Lines: id, annotator, and label or score; one file or several",
            several=True,
        ),
        Source(
            "items",
            "Items",
            "JSON Lines: the judged items, such as id, claim and evidence_text; else gold has ids and answers alone",
            flag="--items",
            required=False,
        ),
        Source(
            "mentions",
            "Mentions",
            "JSON Lines: id of a text, annotator, mentions as [start, end]; may be repeated",
            flag="--mentions",
            several=True,
            repeated=True,
            required=False,
            on_site=False,
        ),
    ),
    parameters=(
        Parameter(
            "key",
            Kind.TEXT,
            "Key of the answer",
            "the key of the answer in gold; if empty, label or score",
            default="",
            metavar="KEY",
        ),
        Parameter(
            "again",
            Kind.WHOLE,
            "Percentage to judge again",
            "the percentage of decided items to judge again, chosen at random",
            default=0,
            highest=100,
            metavar="N",
        ),
    ),
)
