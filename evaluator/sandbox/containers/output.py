"""Copying of a container's output files from its volume. A tar header is checked before the content is read."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from evaluator.sandbox.containers import tar
from evaluator.sandbox.containers.container_spec import OutputFile
from evaluator.sandbox.containers.engine import Engine, NotFoundError

OF_THE_HOST = (errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""Codes of errors for which the host is to blame, when a file of a container is opened."""


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


def read(folder: Path, output_file: OutputFile) -> Output | None:
    """Copy an output file from a folder of this host, as `fetch` does; an ended container could write anything there.

    Return None if the file is missing and not required. Only a regular file is opened: no link is followed, and a FIFO
    does not block. Raises OutputError.
    """
    for path in output_file.paths:
        name = PurePosixPath(path).name
        try:
            if (folder / name).is_dir() and not (folder / name).is_symlink():
                raise OutputError(f"its {name} is a folder, expected a regular file")
            descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            continue
        except OSError as problem:  # a link, a socket or a device
            if problem.errno in OF_THE_HOST:
                raise
            kind = "symlink" if problem.errno == errno.ELOOP else "special file"
            raise OutputError(f"its {name} is a {kind}, expected a regular file") from None
        with open(descriptor, "rb") as file:  # noqa: PTH123
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                kind = "FIFO" if stat.S_ISFIFO(status.st_mode) else "special file"
                raise OutputError(f"its {name} is a {kind}, expected a regular file")
            if status.st_size > output_file.most:
                raise OutputError(f"its {name} is too large, expected at most {output_file.most} bytes")
            digest = hashlib.sha256()
            while piece := file.read(1 << 20):
                digest.update(piece)
                output_file.into.write(piece)
            return Output(name, status.st_size, digest.hexdigest())
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
