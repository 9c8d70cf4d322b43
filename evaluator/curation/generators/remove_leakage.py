"""`split remove-leakage` removes training triples that leak an evaluation triple; `audit leakage` counts them.

The rules are in `evaluator.curation.open_triples.leakage`.
"""

from __future__ import annotations

import argparse
import gc
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.open_files import MENTIONS, TRIPLES, dictionary, opened_again, watched
from evaluator.curation.generators.workspace import Workspace
from evaluator.curation.io.text_blocks import text_blocks
from evaluator.curation.open_triples.leakage import Leakage, Level, Rule
from evaluator.curation.open_triples.token_sets import Normaliser, StopWords, TokenCounts
from evaluator.curation.open_triples.triples import Block, read_blocks, read_triples
from evaluator.errors import GoldError, ProblemList, shown
from evaluator.progress import Steps

_LEVELS = tuple(level.name.lower() for level in Level)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("training", type=Path, help=f"{TRIPLES}; .gz is decompressed")
    parser.add_argument(
        "--evaluation",
        type=Path,
        action="append",
        required=True,
        help="evaluation triples, in the same format; may be repeated",
    )
    MENTIONS.add_to(parser)
    parser.add_argument(
        "--stop-words",
        type=Path,
        help="stop words, one per line (default: the 25 most frequent tokens of mentions and of relations in training)",
    )


def _add_split_arguments(parser: argparse.ArgumentParser) -> None:
    _add_arguments(parser)
    parser.add_argument(
        "--level", action="append", choices=_LEVELS, help="how strictly to compare (default: thorough); may be repeated"
    )


def _split(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    return _classify(args, bench, sorted(Level[level.upper()] for level in set(args.level or ["thorough"])))


def _audit(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    return _classify(args, bench, [])


def _classify(args: argparse.Namespace, bench: Workspace, levels: list[Level]) -> GeneratorResult:
    """Classify each training triple as leaking or not, and write the triples that do not leak.

    levels: the levels of removal, each with an output file; if empty, triples are only counted.
    """
    mentions = dictionary(args, bench)
    evaluated = [
        triple
        for path in args.evaluation
        for triple in read_triples(bench.input("evaluation", path), str(path), mentions)
    ]
    passes = 1 if args.stop_words else 2
    steps = Steps(passes * bench.size([args.training]))
    stops = _stop_words(args, bench, steps)
    leakage = Leakage(evaluated, Normaliser(stops.all))
    outputs = {level: bench.output(f"train_{level.name.lower()}.tsv") for level in levels}
    removed = bench.output("removed.tsv") if bench.keeps else None
    blocks = _blocks(bench.input("training", args.training), args.training, steps)
    with _gc_disabled():
        counts = _write_by_rule(blocks, leakage, outputs, removed)
    return _result(counts, levels, stops, len(evaluated))


def _write_by_rule(
    blocks: Iterator[Block], leakage: Leakage, outputs: dict[Level, BinaryIO], removed: BinaryIO | None
) -> Counter[int]:
    """Write the triples that remain at each level; return the number of triples by rule (0: triples that do not leak).

    outputs: level -> its file. removed: the file for line number and rule of each triple that leaks; None: no such
    file.
    """
    counts: Counter[int] = Counter()
    for block in blocks:
        rules = leakage.rules(block.rows, max(outputs, default=Level.THOROUGH))
        counts.update(rules)
        for level, file in outputs.items():
            _write(file, [line for line, rule in zip(block.lines, rules, strict=True) if not 0 < rule <= level])
        if removed is not None:
            numbered = zip(block.numbers, rules, strict=True)
            _write(removed, [f"{number}\t{Rule(rule).name}" for number, rule in numbered if rule])
    return counts


@contextmanager
def _gc_disabled() -> Iterator[None]:
    """Disable garbage collection in the `with` block: there are no reference cycles, and it takes 25 % of the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _blocks(stream: BinaryIO, path: Path, steps: Steps) -> Iterator[Block]:
    return read_blocks(watched(stream, steps), str(path))


def _stop_words(args: argparse.Namespace, bench: Workspace, steps: Steps) -> StopWords:
    if args.stop_words is not None:
        words = _read_stop_words(bench.input("stop words", args.stop_words), str(args.stop_words))
        return StopWords(words, ())  # stop words of mentions and of relations are used together, so one list is enough
    counts = TokenCounts()
    with opened_again(args.training) as stream, _gc_disabled():
        for block in _blocks(stream, args.training, steps):
            counts.add(block.rows)
    return counts.stop_words()


def _read_stop_words(stream: BinaryIO, file: str) -> tuple[str, ...]:
    problems = ProblemList(file, GoldError)
    words: dict[str, None] = {}
    for first, lines in text_blocks(stream, problems, "one word per line"):
        for number, line in enumerate(lines, first):
            tokens = line.lower().split()
            if len(tokens) != 1:
                problems.add(number, "not a stop word", shown(line), "one word per line")
            words.update(dict.fromkeys(tokens))
    problems.raise_if_any()
    return tuple(words)


def _write(file: BinaryIO, lines: list[str]) -> None:
    if lines:
        file.write(("\n".join(lines) + "\n").encode())


def _result(counts: Counter[int], levels: list[Level], stops: StopWords, n_evaluated: int) -> GeneratorResult:
    leaking = {level: sum(counts[rule] for rule in Rule if rule <= level) for level in levels or Level}
    report: dict[str, Any] = {
        "evaluation_triples": n_evaluated,
        "training_triples": counts.total(),
        "removed" if levels else "leaking": {level.name: n for level, n in leaking.items()},
        "by_rule": {rule.name: counts[rule] for rule in Rule if rule <= max(levels, default=Level.THOROUGH)},
        "stop_words": {"mentions": list(stops.mentions), "relations": list(stops.relations)},
    }
    verb = "removed" if levels else "leak"
    text = [f"{n_evaluated:,} evaluation triples, {counts.total():,} training triples"]
    text += [f"{level.name}: {n:,} {verb}" for level, n in leaking.items()]
    text += [f"  {rule}: {n:,}" for rule, n in report["by_rule"].items()]
    return GeneratorResult(report, "\n".join(text))


GENERATOR = Generator(
    name="remove-leakage",
    version=1,
    summary="remove the open training triples that paraphrase an evaluation triple",
    add_arguments=_add_split_arguments,
    make=_split,
    seeded=False,
)

AUDIT = Generator(
    name="leakage",
    version=1,
    summary="count the open training triples that paraphrase an evaluation triple",
    add_arguments=_add_arguments,
    make=_audit,
    seeded=False,
)
