"""Strict reader for untrusted tar archives, with bounded memory, and a streaming writer.

The tar readers of Go, which container engines use, and of Python disagree on unusual archives. Such archives are
refused, so that an engine unpacks the same files that were checked.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

BLOCK = 512
_ZERO = bytes(BLOCK)
_MOST_EXTENSION = 1 << 20  # bytes of a long name or of a header's PAX records; Go has the same limit
_KINDS = {b"0": "file", b"\0": "file", b"1": "hard link", b"2": "symlink", b"3": "character device"}
_KINDS |= {b"4": "block device", b"5": "folder", b"6": "FIFO", b"S": "sparse file", b"g": "global header"}


class TarError(ValueError):
    """The archive is invalid or unsupported. The text gives the reason and, where it helps, the position in bytes."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of an archive. kind: file, folder, symlink, hard link, FIFO, character or block device, or sparse file.

    size: the bytes of its content, which begin at byte `offset` of the archive. target: what a link points to.
    """

    name: str
    kind: str
    size: int
    target: str
    offset: int


class Reader:
    """Reader of exact numbers of bytes from an iterator of pieces of any length. offset: the bytes read so far."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._held = b""
        self.offset = 0

    def upto(self, count: int) -> bytes:
        """Return the next `count` bytes of the archive, or fewer at its end."""
        pieces = []
        remaining = count
        while remaining and (piece := self._some(remaining)):
            pieces.append(piece)
            remaining -= len(piece)
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def exactly(self, count: int) -> bytes:
        content = self.upto(count)
        if len(content) < count:
            raise TarError(f"the archive ends at byte {self.offset}, in the middle of a member")
        return content

    def content(self, size: int) -> Iterator[bytes]:
        """Yield the next `size` bytes in pieces. Raises TarError if the archive ends earlier."""
        while size:
            piece = self._some(size)
            if not piece:
                raise TarError(f"the archive ends at byte {self.offset}, in the middle of a member")
            size -= len(piece)
            yield piece

    def skip(self, size: int) -> None:
        for _ in self.content(size):
            pass

    def _some(self, most: int) -> bytes:
        while not self._held:
            piece = next(self._pieces, None)
            if piece is None:
                return b""
            self._held = piece
        piece, self._held = self._held[:most], self._held[most:]
        self.offset += len(piece)
        return piece


def members(reader: Reader) -> Iterator[Member]:
    """Yield the members of an archive in their order. Raises TarError for an invalid archive.

    Before it takes the next member, the caller may read the content of this one; unread content is skipped.
    """
    extensions: dict[str, str] = {}
    while (block := reader.upto(BLOCK)) not in (b"", _ZERO):
        if len(block) < BLOCK:
            raise TarError(f"the archive ends at byte {reader.offset}, in the middle of a header")
        flag, size = _checked(block, reader.offset)
        if flag in (b"L", b"K", b"x"):
            if size > _MOST_EXTENSION:
                raise TarError(f"an extended header has {size} bytes, expected at most {_MOST_EXTENSION}")
            content = reader.exactly(_padded(size))[:size]
            extensions |= _records(content) if flag == b"x" else {_LONG[flag]: _text(content)}
            continue
        kind = _KINDS.get(flag, "")
        if not kind:
            raise TarError(
                f"the header at byte {reader.offset - BLOCK} has the type {flag!r}, expected a file, folder or link"
            )
        if "size" in extensions:
            if not extensions["size"].isascii() or not extensions["size"].isdigit() or len(extensions["size"]) > 18:
                raise TarError("the size in a PAX record is not a number of 1 to 18 digits")
            size = int(extensions["size"])
        if kind not in ("file", "sparse file", "global header") and size:
            raise TarError(f"a {kind} has {size} bytes of content, expected 0")
        if any(key.startswith("GNU.sparse.") for key in extensions):
            kind = "sparse file"
        name = extensions.get("path", _name(block))
        if flag == b"\0" and name.endswith("/") and size:
            raise TarError(f"the folder {name!r} has {size} bytes of content, expected 0")
        end = reader.offset + _padded(size)
        if kind != "global header":
            yield Member(name, kind, size, extensions.get("linkpath", _text(block[157:257])), reader.offset)
            extensions = {}
        reader.skip(end - reader.offset)
    _check_rest(reader)


_LONG = {b"L": "path", b"K": "linkpath"}


def _padded(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


def _checked(block: bytes, at: int) -> tuple[bytes, int]:
    """Return (type, size) from a header. Raises TarError if its checksum is wrong.

    at: the number of bytes of the archive up to the end of the header.
    """
    stated = _number(block[148:156], at)
    if stated != sum(block[:148]) + 8 * 32 + sum(block[156:]):
        raise TarError(f"there is no tar header at byte {at - BLOCK}: the checksum is wrong")
    return block[156:157], _number(block[124:136], at)


def _number(field: bytes, at: int) -> int:
    """Return the number in a field of a header. Raises TarError if the field is not a number.

    at: the number of bytes of the archive up to the end of the header.
    """
    if field[0] & 0x80:
        value = int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big")
        if field[0] & 0x40 or value >> 62:
            raise TarError(
                f"the header at byte {at - BLOCK} has a number that is negative or too large, expected 0 to 2**62 - 1"
            )
        return value
    digits = field.strip(b"\0 ")
    if digits.strip(b"01234567"):
        raise TarError(f"the header at byte {at - BLOCK} has the number {digits!r}, expected octal digits")
    return int(digits or b"0", 8)


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def _name(block: bytes) -> str:
    name, prefix = _text(block[:100]), _text(block[345:500])
    return f"{prefix}/{name}" if block[257:263] == b"ustar\0" and prefix else name


def _records(content: bytes) -> dict[str, str]:
    """Return PAX records as {key: value}: each is `LENGTH KEY=VALUE` and a newline; LENGTH counts the whole record."""
    records = {}
    while content:
        length, space, _ = content[:20].partition(b" ")
        if not space or not length.isdigit() or not len(length) < int(length) <= len(content):
            raise TarError("a PAX record does not begin with its length, or the length is wrong")
        record, content = content[len(length) + 1 : int(length)], content[int(length) :]
        key, equals, value = record.partition(b"=")
        if not equals or not value.endswith(b"\n"):
            raise TarError("a PAX record is not KEY=VALUE and a newline")
        records[key.decode("utf-8", "surrogateescape")] = value[:-1].decode("utf-8", "surrogateescape")
    return records


def _check_rest(reader: Reader) -> None:
    """Raise TarError for data after the end marker, since other readers might continue there and see more members."""
    while rest := reader.upto(1 << 20):
        if data := rest.lstrip(b"\0"):
            position = reader.offset - len(data)
            raise TarError(f"byte {position}, after the end marker, is {data[0]:#04x}, expected zeros to the end")


def header(name: str, size: int, *, mode: int = 0o444) -> bytes:
    """Return the tar header of a regular file of `size` bytes that root owns, with the modification time 0."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, mode
    return info.tobuf(tarfile.GNU_FORMAT)


def file(name: str, content: Iterable[bytes], size: int, *, mode: int = 0o444) -> Iterator[bytes]:
    """Yield a regular file as a member of a tar, in pieces.

    Raises ValueError if `content` does not have `size` bytes.
    """
    yield header(name, size, mode=mode)
    sent = 0
    for piece in content:
        sent += len(piece)
        if sent > size:
            break
        yield piece
    if sent != size:
        raise ValueError(f"{name} has {'at least ' if sent > size else ''}{sent} bytes, expected {size}")
    yield bytes(_padded(size) - size)


END = bytes(2 * BLOCK)
