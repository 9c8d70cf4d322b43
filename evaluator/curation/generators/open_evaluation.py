"""`split open-evaluation`: sample test and validation triples from open triples."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from evaluator.curation.generators.base import Generator, GeneratorResult
from evaluator.curation.generators.open_files import MENTIONS, TRIPLES, dictionary, opened_again, positive, watched
from evaluator.curation.generators.workspace import Workspace
from evaluator.curation.open_triples.evaluation_sets import SIZE, TOKENS, Eligible, EvaluationSample, sample_triples
from evaluator.curation.open_triples.triples import Dictionary, OpenTriple, read_blocks, to_line
from evaluator.progress import Steps


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("triples", type=Path, help=f"{TRIPLES}; .gz is decompressed")
    MENTIONS.add_to(parser)
    parser.add_argument(
        "--size", type=positive, default=SIZE, help=f"number of triples in each file (default: {SIZE:,})"
    )
    parser.add_argument(
        "--min-tokens",
        dest="tokens",
        type=positive,
        default=TOKENS,
        help=f"minimum number of tokens of a relation (default: {TOKENS})",
    )


def _make(args: argparse.Namespace, bench: Workspace) -> GeneratorResult:
    mentions = dictionary(args, bench)
    steps = Steps(2 * bench.size([args.triples]))
    eligible = Eligible(args.tokens)
    n_read = 0
    for block in read_blocks(watched(bench.input("triples", args.triples), steps), str(args.triples)):
        n_read += len(block.rows)
        eligible.add(block, mentions)
    sample = sample_triples(eligible, args.size, seed=args.seed)
    triples = _read_sample(args.triples, sample, mentions, steps)
    files = {
        "test": (sample.test, True),
        "validation_linked": (sample.linked, True),
        "validation_mention": (sample.linked, False),
        "validation_all": (sample.all, False),
    }
    for name, (line_numbers, entities) in files.items():
        lines = (to_line(triples[line_number], entities=entities) for line_number in line_numbers.tolist())
        bench.output(f"{name}.tsv").write("".join(f"{line}\n" for line in lines).encode())
    pools = {"linked": len(eligible.first(linked=True)), "all": len(eligible.first(linked=False))}
    sizes = {name: len(line_numbers) for name, (line_numbers, _) in files.items()}
    report: dict[str, Any] = {"triples": n_read, "eligible": pools, "files": sizes}
    text = [
        f"{n_read:,} triples; {pools['all']:,} are eligible, {pools['linked']:,} of them with subject and object "
        "linked to entities"
    ]
    text += [f"{name}.tsv: {size:,}" for name, size in sizes.items()]
    return GeneratorResult(report, "\n".join(text))


def _read_sample(path: Path, sample: EvaluationSample, mentions: Dictionary, steps: Steps) -> dict[int, OpenTriple]:
    line_numbers = {line_number for numbers in sample for line_number in numbers.tolist()}
    with opened_again(path) as stream:
        return {
            number: mentions.triple(row)
            for block in read_blocks(watched(stream, steps), str(path))
            for number, row in zip(block.numbers, block.rows, strict=True)
            if number in line_numbers
        }


GENERATOR = Generator(
    name="open-evaluation",
    version=1,
    summary="sample a test set and three kinds of validation sets from open triples",
    add_arguments=_add_arguments,
    make=_make,
)
