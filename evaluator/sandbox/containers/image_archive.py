"""The archive that `docker save` writes for an image: an index of its members, whose contents are read in place."""

from __future__ import annotations

import os
import re
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

from evaluator.errors import shown
from evaluator.sandbox.containers import tar
from evaluator.sandbox.containers.image_errors import (
    DuplicateMemberError,
    ImageArchiveError,
    TooLargeError,
    UnsafeMemberError,
)
from evaluator.sandbox.containers.image_layers import CHUNK, GZIP, RemainingLimits, plain

# Engines up to version 24 write the second of two equal layers as a link to the first.
_LAYER = re.compile(r"[0-9a-f]{64}/layer\.tar")


class Archive:
    """The members of an archive by name. Their contents are read from the archive, without unpacking it."""

    def __init__(self, descriptor: int, most_bytes: int, most_members: int, scratch: str | Path | None) -> None:
        """Index an archive, which is first decompressed to an unnamed file in the folder `scratch` if it is compressed.

        descriptor: an open descriptor of a regular file. most_bytes: the maximum size, compressed and uncompressed.
        most_members: the maximum number of members. scratch: None: the system's folder for temporary files. Raises
        ImageArchiveError, UnsafeMemberError, DuplicateMemberError, TooLargeError or LayerContentError.
        """
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ImageArchiveError("the image is not a regular file")
        self._descriptor, self._size = descriptor, status.st_size
        if self._size > most_bytes:
            raise TooLargeError(f"the archive has {self._size} bytes, expected at most {most_bytes}")
        if os.pread(descriptor, 2, 0) == GZIP:
            self._unpack(most_bytes, scratch)
        self._members: dict[str, tar.Member] = {}
        try:
            for count, member in enumerate(tar.members(_Seeking(self._descriptor, self._size)), 1):
                if count > most_members:
                    raise TooLargeError(f"the archive has over {most_members} members, expected at most {most_members}")
                self._add(member)
        except tar.TarError as problem:
            raise ImageArchiveError(f"the image is not an archive from `docker save`: {problem}") from None

    def read(self, name: str, most: int) -> bytes:
        """Return the content of the member `name`.

        Raises TooLargeError if it has more than `most` bytes, ImageArchiveError if there is no such member.
        """
        member = self._find(name)
        if member.size > most:
            raise TooLargeError(f"{shown(name)} has {member.size} bytes, expected at most {most}")
        return b"".join(self.pieces(name))

    def pieces(self, name: str) -> Iterator[bytes]:
        """Yield the content of the member `name` in pieces. Raises ImageArchiveError if it is missing or truncated."""
        member = self._find(name)
        return _range(self._descriptor, member.offset, member.size)

    def _find(self, name: str) -> tar.Member:
        member = self._members.get(name)
        if member is not None and member.kind == "symlink":
            member = self._members.get(member.target.removeprefix("../"))
        if member is None or member.kind != "file":
            raise ImageArchiveError(f"the archive has no file {shown(name)}, expected an archive from `docker save`")
        return member

    def _add(self, member: tar.Member) -> None:
        name = member.name.removeprefix("./").rstrip("/")
        parts = name.split("/")
        if member.name.startswith("/") or ".." in parts or "\\" in name:
            raise UnsafeMemberError(
                f"the archive has a member {shown(member.name)}, expected relative paths without .."
            )
        if member.kind == "folder":
            return
        alias = (
            member.kind == "symlink"
            and _LAYER.fullmatch(name)
            and member.target.startswith("../")
            and _LAYER.fullmatch(member.target[3:])
        )
        if member.kind != "file" and not alias:
            raise UnsafeMemberError(f"the archive has a {member.kind}, {shown(name)}, expected only files")
        if name in self._members:
            raise DuplicateMemberError(f"the archive has the name {shown(name)} twice, expected different names")
        self._members[name] = member

    def _unpack(self, most_bytes: int, scratch: str | Path | None) -> None:
        self._spool = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115 closed with the archive
        allowance = RemainingLimits(bytes=most_bytes, members=0)
        for piece in plain(_range(self._descriptor, 0, self._size), allowance, "the archive"):
            self._spool.write(piece)
        self._spool.flush()
        self._descriptor = self._spool.fileno()
        self._size = os.fstat(self._descriptor).st_size


class _Seeking(tar.Reader):
    """A tar reader of a seekable file, which skips content without reading it."""

    def __init__(self, descriptor: int, size: int) -> None:
        super().__init__(())
        self._descriptor, self._size = descriptor, size

    def _some(self, most: int) -> bytes:
        piece = os.pread(self._descriptor, min(most, self._size - self.offset), self.offset)
        self.offset += len(piece)
        return piece

    def skip(self, size: int) -> None:
        if self.offset + size > self._size:
            raise tar.TarError(f"the archive ends at byte {self._size}, in the middle of a member")
        self.offset += size


def _range(descriptor: int, start: int, size: int) -> Iterator[bytes]:
    """Yield `size` bytes of a file from the offset `start`. Raises ImageArchiveError if the file ends earlier."""
    end = start + size
    while start < end:
        piece = os.pread(descriptor, min(CHUNK, end - start), start)
        if not piece:
            raise ImageArchiveError(f"the archive ended at byte {start} while it was read, expected {end} bytes")
        start += len(piece)
        yield piece
