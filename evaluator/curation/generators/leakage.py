"""`split leakage` takes out of training triples what says an evaluation triple; `audit leakage` counts it."""

from __future__ import annotations

import argparse
import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from evaluator.curation.generators.base import Generator, Made
from evaluator.curation.generators.open_files import MENTIONS, TRIPLES, dictionary, opened_again, watched
from evaluator.curation.generators.workspace import Bench
from evaluator.curation.io.text_blocks import text_blocks
from evaluator.curation.open_triples.leakage import Leakage, Level, Rule
from evaluator.curation.open_triples.token_sets import Normaliser, StopWords, TokenCounts
from evaluator.curation.open_triples.triples import Block, read_blocks, read_triples
from evaluator.errors import GoldError, ProblemList, shown
from evaluator.progress import Steps

_LEVELS = tuple(level.name.lower() for level in Level)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("training", type=Path, help=f"{TRIPLES}; .gz is unpacked")
    parser.add_argument("--evaluation", type=Path, action="append", required=True, help="the same; may be repeated")
    MENTIONS.add_to(parser)
    parser.add_argument(
        "--stop-words",
        type=Path,
        help="one a line; else the 25 most frequent tokens of the training mentions, and of the relations",
    )


def _add_split_arguments(parser: argparse.ArgumentParser) -> None:
    _add_arguments(parser)
    parser.add_argument("--level", action="append", choices=_LEVELS, help="thorough unless said; may be repeated")


def _split(given: argparse.Namespace, bench: Bench) -> Made:
    return _sort(given, bench, sorted(Level[level.upper()] for level in set(given.level or ["thorough"])))


def _audit(given: argparse.Namespace, bench: Bench) -> Made:
    return _sort(given, bench, [])


def _sort(given: argparse.Namespace, bench: Bench, levels: list[Level]) -> Made:
    """levels: the training files to write; without any, triples are only counted."""
    words = dictionary(given, bench)
    evaluated = [
        triple
        for path in given.evaluation
        for triple in read_triples(bench.input("evaluation", path), str(path), words)
    ]
    passes = 1 if given.stop_words else 2
    steps = Steps(passes * bench.size([given.training]))
    stops = _stop_words(given, bench, steps)
    leakage = Leakage(evaluated, Normaliser(stops.all))
    kept = {level: bench.output(f"train_{level.name.lower()}.tsv") for level in levels}
    removed = bench.output("removed.tsv") if bench.keeps else None
    blocks = _blocks(bench.input("training", given.training), given.training, steps)
    with _uncollected():
        found = _share_out(blocks, leakage, kept, removed)
    return _made(found, levels, stops, len(evaluated))


def _share_out(
    blocks: Iterator[Block], leakage: Leakage, kept: dict[Level, BinaryIO], removed: BinaryIO | None
) -> Counter[int]:
    """How many triples each rule finds; 0: none does."""
    found: Counter[int] = Counter()
    for block in blocks:
        rules = leakage.rules(block.rows, max(kept, default=Level.THOROUGH))
        found.update(rules)
        for level, file in kept.items():
            _write(file, [line for line, rule in zip(block.lines, rules, strict=True) if not 0 < rule <= level])
        if removed is not None:
            told = zip(block.numbers, rules, strict=True)
            _write(removed, [f"{number}\t{Rule(rule).name}" for number, rule in told if rule])
    return found


@contextmanager
def _uncollected() -> Iterator[None]:
    """Nothing here refers to itself in a circle; looking for such things takes a quarter of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _blocks(stream: BinaryIO, path: Path, steps: Steps) -> Iterator[Block]:
    return read_blocks(watched(stream, steps), str(path))


def _stop_words(given: argparse.Namespace, bench: Bench, steps: Steps) -> StopWords:
    if given.stop_words is not None:
        words = _given_words(bench.input("stop words", given.stop_words), str(given.stop_words))
        return StopWords(words, ())  # a word of either kind stops both, so one list is enough
    counts = TokenCounts()
    with opened_again(given.training) as stream, _uncollected():
        for block in _blocks(stream, given.training, steps):
            counts.add(block.rows)
    return counts.stop_words()


def _given_words(stream: BinaryIO, file: str) -> tuple[str, ...]:
    problems = ProblemList(file, GoldError)
    words: dict[str, None] = {}
    for first, lines in text_blocks(stream, problems, "one word a line"):
        for number, line in enumerate(lines, first):
            tokens = line.lower().split()
            if len(tokens) != 1:
                problems.add(number, "no stop word", shown(line), "one word a line")
            words.update(dict.fromkeys(tokens))
    problems.raise_if_any()
    return tuple(words)


def _write(file: BinaryIO, lines: list[str]) -> None:
    if lines:
        file.write(("\n".join(lines) + "\n").encode())


def _made(found: Counter[int], levels: list[Level], stops: StopWords, evaluated: int) -> Made:
    taken = {level: sum(found[rule] for rule in Rule if rule <= level) for level in levels or Level}
    report: dict[str, Any] = {
        "evaluation_triples": evaluated,
        "training_triples": found.total(),
        "removed" if levels else "leaking": {level.name: n for level, n in taken.items()},
        "by_rule": {rule.name: found[rule] for rule in Rule if rule <= max(levels, default=Level.THOROUGH)},
        "stop_words": {"mentions": list(stops.mentions), "relations": list(stops.relations)},
    }
    did = "taken out" if levels else "leak"
    text = [f"{evaluated:,} evaluation triples, {found.total():,} training triples"]
    text += [f"{level.name}: {n:,} {did}" for level, n in taken.items()]
    text += [f"  {rule}: {n:,}" for rule, n in report["by_rule"].items()]
    return Made(report, "\n".join(text))


GENERATOR = Generator(
    name="leakage",
    version=1,
    summary="take out of open training triples what says an evaluation triple in other words",
    add_arguments=_add_split_arguments,
    make=_split,
    seeded=False,
)

AUDIT = Generator(
    name="leakage",
    version=1,
    summary="count the open training triples that say an evaluation triple in other words",
    add_arguments=_add_arguments,
    make=_audit,
    seeded=False,
)
