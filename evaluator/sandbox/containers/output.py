"""What a container leaves, out of its volume: the tar header is judged before a byte of content is read."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO

from evaluator.sandbox.containers import tar
from evaluator.sandbox.containers.container_spec import Wanted
from evaluator.sandbox.containers.engine import Engine, NotThereError


class OutputError(Exception):
    """There is no output that can be used; the text is for the participant."""


@dataclass(frozen=True)
class Output:
    name: str
    size: int
    sha256: str


def fetch(engine: Engine, keeper: str, wanted: Wanted) -> Output | None:
    """Copy a file to where it is wanted, once the container has ended; None: it is not there, and need not be.

    Raises OutputError, EngineError. A sparse file of a terabyte fits a small tmpfs, and only its header says so.
    Another name for the same file (a hard link) is that file.
    """
    for path in wanted.paths:
        try:
            # Closed before anything else is asked: an engine holds the keeper's lock until the stream is at its end.
            with contextlib.closing(engine.get(keeper, path)) as archive:
                return copy(archive, PurePosixPath(path).name, wanted.most, wanted.into)
        except NotThereError:
            continue
    if wanted.required:
        raise OutputError(f"it wrote no {wanted.paths[0]}")
    return None


def copy(archive: Iterable[bytes], name: str, most: int, into: BinaryIO) -> Output:
    """The one file of a tar. Raises OutputError, and EngineError when the archive is not what an engine writes."""
    reader = tar.Reader(archive)
    try:
        member = next(tar.members(reader), None)
        if member is None:
            raise tar.TarError("it has no members")
        if member.kind != "file":
            raise OutputError(f"its {name} is a {member.kind}, expected a regular file")
        if member.size > most:
            # How many it has was the container's choice: a number could carry hidden inputs out.
            raise OutputError(f"its {name} has more bytes than it may, expected at most {most}")
        digest = hashlib.sha256()
        for piece in reader.content(member.size):
            digest.update(piece)
            into.write(piece)
    except tar.TarError as problem:
        raise OutputError(f"its {name} could not be read as one file: {problem}") from None
    return Output(name, member.size, digest.hexdigest())
