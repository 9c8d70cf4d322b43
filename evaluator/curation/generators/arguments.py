"""Command-line arguments shared by several subcommands."""

from __future__ import annotations

import argparse
import re
from collections.abc import Sequence
from pathlib import Path

from evaluator.curation.generators.workspace import Workspace
from evaluator.curation.io.labelled_texts import read_claims
from evaluator.curation.text_stats.cues import MIN_FREQUENCY
from evaluator.errors import shown
from evaluator.statistics.ngrams import most_frequent


def whole_number(text: str) -> int:
    """Parse a whole number, 0 or more. It is passed as `type` to `add_argument`."""
    if not re.fullmatch(r"[0-9]{1,18}", text):
        raise argparse.ArgumentTypeError(f"is {shown(text)}, expected a whole number, 0 or more, of at most 18 digits")
    return int(text)


def positive(text: str) -> int:
    """Parse a whole number, 1 or more. It is passed as `type` to `add_argument`."""
    if not re.fullmatch(r"0*[1-9][0-9]{0,17}", text):
        raise argparse.ArgumentTypeError(f"is {shown(text)}, expected a whole number, 1 or more, of at most 18 digits")
    return int(text)


def add_texts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("claims", type=Path, help="JSON Lines with id, text and label; .gz is decompressed")
    parser.add_argument("--text", default="claim", metavar="KEY", help="the text's key (default: claim)")
    parser.add_argument("--label", default="label", metavar="KEY", help="the label's key (default: label)")


def add_words(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--grams", type=positive, default=2, metavar="N", help="words in an n-gram (default: 2)")
    parser.add_argument(
        "--min-frequency",
        type=positive,
        default=MIN_FREQUENCY,
        metavar="N",
        help="minimum number of occurrences of an n-gram; two in the same claim count as two "
        f"(default: {MIN_FREQUENCY})",
    )
    words = parser.add_mutually_exclusive_group()
    words.add_argument("--drop", metavar="WORDS", help="unigrams to leave out, separated by spaces; '' for none")
    words.add_argument(
        "--drop-from",
        type=Path,
        metavar="TRAIN",
        help="leave out the 10 most frequent unigrams of this file (default: of CLAIMS)",
    )


def dropped_words(args: argparse.Namespace, bench: Workspace, texts: Sequence[str]) -> list[str]:
    """Return the unigrams to remove before n-grams are formed, as the arguments --drop and --drop-from request.

    They are the words of --drop, or else the most frequent words of the file --drop-from, or else those of `texts`.
    texts: the texts of the claims file. Raises GoldError for an invalid file.
    """
    if args.drop is not None:
        return str(args.drop).lower().split()
    if args.drop_from is not None:
        stream = bench.input("drop_from", args.drop_from)
        texts = read_claims(stream, str(args.drop_from), text=args.text, label=args.label).texts
    return most_frequent(texts)
