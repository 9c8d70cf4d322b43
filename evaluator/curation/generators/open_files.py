"""Arguments and files shared by the commands for open triples."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import BinaryIO, cast

from evaluator.curation.generators.parameters import Source
from evaluator.curation.generators.workspace import Workspace
from evaluator.curation.open_triples.triples import Dictionary, read_dictionary
from evaluator.errors import UsageError, shown
from evaluator.progress import Steps

TRIPLES = (
    "open triples, one per line: subject, relation, object, and both or none of the lists of mentions, tab-separated"
)


class Watched:
    """A stream that, when read, adds the number of bytes to `steps`, to report progress."""

    def __init__(self, stream: BinaryIO, steps: Steps) -> None:
        self._stream = stream
        self._steps = steps

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        self._steps.add(len(data))
        return data


def watched(stream: BinaryIO, steps: Steps) -> BinaryIO:
    """Return a stream that reads `stream` and reports the bytes read to `steps`, as progress. It has the method `read`
    only.
    """
    return cast(BinaryIO, Watched(stream, steps))


def opened_again(path: Path) -> BinaryIO:
    """Open an input for a further pass. The first pass, through the workspace, hashes the file.

    Raises UsageError if it cannot be read.
    """
    try:
        return path.open("rb")
    except OSError as error:
        raise UsageError(f"cannot read {shown(str(path))}: {error.strerror}") from None


def positive(text: str) -> int:
    """Parse a whole number, 1 or more. It is passed as `type` to `add_argument`."""
    if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
        raise argparse.ArgumentTypeError(f"is {shown(text)}, expected a whole number, 1 or more, of at most 9 digits")
    return int(text)


MENTIONS = Source(
    "mentions",
    "Mentions of entities",
    "one mention and its entity per line, tab-separated; used where a triple's line lists no mentions",
    flag="--mentions",
    required=False,
)


def dictionary(args: argparse.Namespace, bench: Workspace) -> Dictionary:
    """Return the mentions and their entities from the file --mentions; without this file, an empty dictionary.

    Raises GoldError for an invalid file.
    """
    if args.mentions is None:
        return Dictionary()
    return read_dictionary(bench.input("mentions", args.mentions), str(args.mentions))
