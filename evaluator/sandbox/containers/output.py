"""Copying of a container's output files from its volume. A tar header is checked before the content is read."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO

from evaluator.sandbox.containers import tar
from evaluator.sandbox.containers.container_spec import OutputFile
from evaluator.sandbox.containers.engine import Engine, NotFoundError


class OutputError(Exception):
    """The output is missing or unusable; the text is for the participant."""


@dataclass(frozen=True)
class Output:
    name: str
    size: int
    sha256: str


def fetch(engine: Engine, holder: str, output_file: OutputFile) -> Output | None:
    """Copy an output file of an ended container to `output_file.into`. Return None if it is missing and not required.

    holder: the volume holder's container. Raises OutputError, EngineError. A sparse file on a small tmpfs can have a
    terabyte, so its size is checked in the tar header. A hard link counts as the file itself.
    """
    for path in output_file.paths:
        try:
            # Close before the next request: an engine locks the volume holder until the stream ends.
            with contextlib.closing(engine.get(holder, path)) as archive:
                return copy(archive, PurePosixPath(path).name, output_file.most, output_file.into)
        except NotFoundError:
            continue
    if output_file.required:
        raise OutputError(f"it wrote no {output_file.paths[0]}")
    return None


def copy(archive: Iterable[bytes], name: str, most: int, into: BinaryIO) -> Output:
    """Copy the only file of a tar to `into`, an open file; return its name, size and digest.

    name: the file's name in the result and in error texts. Raises OutputError unless it is a regular file of at most
    `most` bytes.
    """
    reader = tar.Reader(archive)
    try:
        member = next(tar.members(reader), None)
        if member is None:
            raise tar.TarError("the engine's archive has no members, expected one file")
        if member.kind != "file":
            raise OutputError(f"its {name} is a {member.kind}, expected a regular file")
        if member.size > most:
            # The container chose the actual size, so reporting it could leak hidden inputs.
            raise OutputError(f"its {name} is too large, expected at most {most} bytes")
        digest = hashlib.sha256()
        for piece in reader.content(member.size):
            digest.update(piece)
            into.write(piece)
    except tar.TarError as problem:
        raise OutputError(f"its {name} could not be read as one file: {problem}") from None
    return Output(name, member.size, digest.hexdigest())
