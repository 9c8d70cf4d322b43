"""Read-only file objects on open descriptors. They never use a descriptor's own offset, which processes share."""

from __future__ import annotations

import fcntl
import io
import os
import stat
from typing import Any


def check_readable(name: str, descriptor: int) -> None:
    """Raise ValueError unless the descriptor is a regular file opened read-only. name: for the error text."""
    try:
        kind = os.fstat(descriptor).st_mode
        access = fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE
    except OSError as problem:
        raise ValueError(f"file {name!r}: descriptor {descriptor} is not open ({problem.strerror})") from None
    if not stat.S_ISREG(kind):
        raise ValueError(f"file {name!r} is {stat.filemode(kind)}, expected a regular file")
    if access != os.O_RDONLY:
        raise ValueError(f"file {name!r} is open for writing, expected read-only")


class OpenFile(io.RawIOBase):
    """Raw file that keeps its own offset and reads with pread, since copies of a descriptor share one offset.

    The file's size is read once, when the object is created; bytes that are appended later are not read.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._size = os.fstat(descriptor).st_size
        self._offset = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._offset

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._offset, io.SEEK_END: self._size}[whence]
        if start + offset < 0:
            raise ValueError(f"cannot seek to {start + offset}, expected 0 or more")
        self._offset = start + offset
        return self._offset

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer).cast("B")[: max(0, self._size - self._offset)]
        count = os.preadv(self._descriptor, [view], self._offset) if view else 0
        self._offset += count
        return count

    def readall(self) -> bytes:
        pieces = []
        while self._offset < self._size:
            piece = os.pread(self._descriptor, self._size - self._offset, self._offset)
            if not piece:
                break
            pieces.append(piece)
            self._offset += len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def open_file(descriptor: int) -> io.BufferedReader:
    """Return a buffered reader of a regular file, from its first byte.

    Closing the reader leaves the descriptor open.
    """
    return io.BufferedReader(OpenFile(descriptor), buffer_size=1 << 20)
