"""`split open-evaluation`: test and validation triples out of open triples."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from evaluator.curation.generators.base import Generator, Made
from evaluator.curation.generators.open_files import MENTIONS, TRIPLES, dictionary, opened_again, positive, watched
from evaluator.curation.generators.workspace import Bench
from evaluator.curation.open_triples.evaluation_sets import SIZE, TOKENS, Drawn, Eligible, draw
from evaluator.curation.open_triples.triples import Dictionary, OpenTriple, cells, read_blocks
from evaluator.progress import Steps


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("triples", type=Path, help=f"{TRIPLES}; .gz is unpacked")
    MENTIONS.add_to(parser)
    parser.add_argument("--size", type=positive, default=SIZE, help=f"triples of each file; {SIZE:,} unless said")
    parser.add_argument(
        "--tokens", type=positive, default=TOKENS, help=f"that a relation needs at least; {TOKENS} unless said"
    )


def _make(given: argparse.Namespace, bench: Bench) -> Made:
    words = dictionary(given, bench)
    steps = Steps(2 * bench.size([given.triples]))
    eligible = Eligible(given.tokens)
    read = 0
    for block in read_blocks(watched(bench.input("triples", given.triples), steps), str(given.triples)):
        read += len(block.rows)
        eligible.add(block, words)
    drawn = draw(eligible, given.size, seed=given.seed)
    found = _found(given.triples, drawn, words, steps)
    files = {
        "test": (drawn.test, True),
        "validation_linked": (drawn.linked, True),
        "validation_mention": (drawn.linked, False),
        "validation_all": (drawn.all, False),
    }
    for name, (places, entities) in files.items():
        lines = (cells(found[place], entities=entities) for place in places.tolist())
        bench.output(f"{name}.tsv").write("".join(f"{line}\n" for line in lines).encode())
    pools = {"linked": len(eligible.first(linked=True)), "all": len(eligible.first(linked=False))}
    drawn_sizes = {name: len(places) for name, (places, _) in files.items()}
    report: dict[str, Any] = {"triples": read, "eligible": pools, "files": drawn_sizes}
    text = [f"{read:,} triples; {pools['all']:,} can be asked about, {pools['linked']:,} of them with both ends linked"]
    text += [f"{name}.tsv: {count:,}" for name, count in drawn_sizes.items()]
    return Made(report, "\n".join(text))


def _found(path: Path, drawn: Drawn, words: Dictionary, steps: Steps) -> dict[int, OpenTriple]:
    wanted = {place for places in drawn for place in places.tolist()}
    with opened_again(path) as stream:
        return {
            number: words.triple(row)
            for block in read_blocks(watched(stream, steps), str(path))
            for number, row in zip(block.numbers, block.rows, strict=True)
            if number in wanted
        }


GENERATOR = Generator(
    name="open-evaluation",
    version=1,
    summary="draw test triples, and validation triples in three flavours, out of open triples",
    add_arguments=_add_arguments,
    make=_make,
)
