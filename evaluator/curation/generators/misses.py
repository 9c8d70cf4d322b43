"""`audit misses` and `audit miss-categories`: missed questions to classify by hand (Broscheit et al. 2020, table 4)."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from evaluator.curation.generators.arguments import positive
from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.workspace import Workspace
from evaluator.errors import GoldError, PredictionError
from evaluator.jsonl.ids import AnswerRegister, IdRegister
from evaluator.jsonl.reader import Format, Reader
from evaluator.jsonl.strict_json import Schema
from evaluator.statistics.random_streams import random_stream
from evaluator.tasks.link_prediction import TASK
from evaluator.tasks.link_prediction.gold import Gold, Mentions
from evaluator.tasks.link_prediction.layout import PREDICTIONS
from evaluator.tasks.link_prediction.predictions import locate

_SIZE = 100
_HITS = 10
_BETWEEN = " | "
_NOTHING = "(nothing)"
_UNCLASSIFIED = "unclassified"


class _Classified(msgspec.Struct, gc=False):
    id: str | int
    category: str = _UNCLASSIFIED


_CLASSIFIED = Format(_Classified, Schema(frozenset({"id", "category"}), free=True), lambda _: 2)


def _add_sample_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("gold", type=Path, help="gold of link-prediction, JSON Lines; .gz is decompressed")
    add("predictions", type=Path, help="predictions of one system")
    add("--size", type=positive, default=_SIZE, metavar="N", help=f"number of misses to sample (default: {_SIZE})")
    add(
        "--hits",
        type=positive,
        default=_HITS,
        metavar="K",
        help=f"a question is missed if none of the first K mentions is an answer, and K are shown (default: {_HITS})",
    )


def _sample(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    gold = TASK.read_gold(bench.input("gold", args.gold), str(args.gold), {})
    firsts, ranks, n_silent = _rankings(args, bench, gold)
    missed = [index for index, rank in enumerate(ranks) if not 0 < rank <= args.hits]
    chosen = missed
    if len(missed) > args.size:
        chosen = sorted(random_stream(args.seed, "misses").sample(missed, args.size))
    names = list(gold.ids)
    rows = [
        {
            "id": names[index],
            "question": _BETWEEN.join(gold.questions[index]),
            "answers": _BETWEEN.join(gold.mentions[index][0]),
            "predicted": _BETWEEN.join(firsts[index]) or _NOTHING,
            "rank": str(ranks[index] or "not ranked"),
            "category": _UNCLASSIFIED,
        }
        for index in chosen
    ]
    bench.write_rows("misses.jsonl", rows)
    if bench.keeps:
        bench.add_tables("csv")
    report = {
        "questions": len(ranks),
        "missed": len(missed),
        "hits": args.hits,
        "sampled": len(rows),
        "without_prediction": n_silent,
    }
    text = (
        f"{len(missed)} of {len(ranks)} questions have no answer among the first {args.hits} mentions; "
        f"{len(rows)} are sampled"
    )
    if n_silent:
        text += f"\nwarning: {args.predictions}: {n_silent} of {len(ranks)} questions have no prediction"
    hint = (
        "Write a category into each row of misses.csv (or misses.jsonl), then run `audit miss-categories`."
        if bench.keeps
        else "--output FOLDER writes them."
    )
    return GeneratorResult(report, f"{text}\n{hint}")


def _rankings(args: argparse.Namespace, bench: Workspace, gold: Gold) -> tuple[list[list[str]], list[int], int]:
    """Return (first mentions of each question, rank of each question's first right answer, number of unanswered
    questions).

    Repeated mentions and other known answers are first removed from the rankings. First mentions: at most --hits. The
    rank counts from 1; it is 0 if no mention is a right answer. Unanswered questions have no prediction. Raises
    PredictionError for invalid predictions.
    """
    firsts: list[list[str]] = [[] for _ in gold.questions]
    ranks = [0] * len(gold.questions)
    reader = Reader(str(args.predictions), PREDICTIONS, PredictionError)
    register = AnswerRegister(gold.ids, reader.problems)
    for number, line in reader.records(bench.input("predictions", args.predictions)):
        index = register.index_of(line.id, number)
        if index is not None:
            raw, before = locate(line.ranking, *gold.mentions[index])
            ranks[index] = raw - before
            firsts[index] = list(islice(_candidates(line.ranking, *gold.mentions[index]), args.hits))
    reader.problems.raise_if_any()
    return firsts, ranks, len(register.silent)


def _candidates(ranking: list[str], answers: Mentions, filtered: Mentions) -> Iterator[str]:
    known = frozenset(filtered) - frozenset(answers)
    return (mention for mention in dict.fromkeys(ranking) if mention not in known)


def _add_table_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("misses", type=Path, help="misses.csv or misses.jsonl of `audit misses`, with a category each")


def _count(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    reader = Reader(str(args.misses), _CLASSIFIED, GoldError)
    register = IdRegister(reader.problems)
    count: Counter[str] = Counter()
    for number, line in reader.records(bench.input("misses", args.misses)):
        if register.add(line.id, number):
            count[line.category.strip() or _UNCLASSIFIED] += 1
    reader.problems.raise_if_any()
    total = count.total()
    rows: list[dict[str, Any]] = [
        {"category": category, "misses": n, "share": n / total}
        for category, n in sorted(count.items(), key=lambda item: (-item[1], item[0]))
    ]
    bench.write_rows("categories.jsonl", rows)
    lines = [f"{row['misses']:>7} {100 * row['share']:>7.1f} %  {row['category']}" for row in rows]
    return GeneratorResult({"misses": total, "categories": rows}, "\n".join([f"{total} misses", *lines]))


SAMPLE = Generator(
    name="misses",
    version=1,
    summary="sample questions of link-prediction that a system missed, to classify them by hand",
    add_arguments=_add_sample_arguments,
    make=_sample,
)
TABLE = Generator(
    name="miss-categories",
    version=1,
    summary="count the categories of misses that were classified by hand",
    add_arguments=_add_table_arguments,
    make=_count,
    seeded=False,
)
