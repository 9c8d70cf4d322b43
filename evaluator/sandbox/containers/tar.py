"""Tar as strangers write it: read strictly, header by header, with bounded memory; and written from streams.

Go's reader (the engines') and Python's disagree on odd archives, so what is odd is refused here instead of guessed at:
then what was checked is what the engine sees.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

BLOCK = 512
_ZERO = bytes(BLOCK)
_MOST_EXTENSION = 1 << 20  # of a long name or a set of PAX records; Go stops there too
_KINDS = {b"0": "file", b"\0": "file", b"1": "hard link", b"2": "symlink", b"3": "character device"}
_KINDS |= {b"4": "block device", b"5": "folder", b"6": "FIFO", b"S": "sparse file", b"g": "global header"}


class TarError(ValueError):
    """Not a tar that is read here; the text says why, and where it broke."""


@dataclass(frozen=True, slots=True)
class Member:
    """kind: file, folder, symlink, hard link, FIFO, character device, block device or sparse file.

    size: bytes of content, which lie at `offset` of the stream.
    """

    name: str
    kind: str
    size: int
    target: str
    offset: int


class Reader:
    """Reads exact amounts from an iterator of pieces of any length."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._pieces = iter(pieces)
        self._held = b""
        self.offset = 0

    def upto(self, count: int) -> bytes:
        """`count` bytes, fewer at the end."""
        taken = []
        missing = count
        while missing and (piece := self._some(missing)):
            taken.append(piece)
            missing -= len(piece)
        return taken[0] if len(taken) == 1 else b"".join(taken)

    def exactly(self, count: int) -> bytes:
        content = self.upto(count)
        if len(content) < count:
            raise TarError(f"it ends at byte {self.offset}, in the middle of a member")
        return content

    def content(self, size: int) -> Iterator[bytes]:
        """`size` bytes, in pieces."""
        while size:
            piece = self._some(size)
            if not piece:
                raise TarError(f"it ends at byte {self.offset}, in the middle of a member")
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
    """The members in order. Content that the caller leaves in the reader is skipped. Raises TarError."""
    long: dict[str, str] = {}
    while (block := reader.upto(BLOCK)) not in (b"", _ZERO):
        if len(block) < BLOCK:
            raise TarError(f"it ends at byte {reader.offset}, in the middle of a header")
        flag, size = _checked(block, reader.offset)
        if flag in (b"L", b"K", b"x"):
            if size > _MOST_EXTENSION:
                raise TarError(f"a header of {size} bytes, expected at most {_MOST_EXTENSION}")
            content = reader.exactly(_padded(size))[:size]
            long |= _records(content) if flag == b"x" else {_LONG[flag]: _text(content)}
            continue
        kind = _KINDS.get(flag, "")
        if not kind:
            raise TarError(f"a member of type {flag!r}, expected a file, folder or link")
        if "size" in long:
            if not long["size"].isascii() or not long["size"].isdigit() or len(long["size"]) > 18:
                raise TarError("a size that is no number")
            size = int(long["size"])
        if kind not in ("file", "sparse file", "global header") and size:
            raise TarError(f"a {kind} of {size} bytes, expected 0")
        if any(key.startswith("GNU.sparse.") for key in long):
            kind = "sparse file"
        name = long.get("path", _name(block))
        if flag == b"\0" and name.endswith("/") and size:
            raise TarError(f"a folder of {size} bytes, expected 0")
        end = reader.offset + _padded(size)
        if kind != "global header":
            yield Member(name, kind, size, long.get("linkpath", _text(block[157:257])), reader.offset)
            long = {}
        reader.skip(end - reader.offset)
    _check_rest(reader)


_LONG = {b"L": "path", b"K": "linkpath"}


def _padded(size: int) -> int:
    return -(-size // BLOCK) * BLOCK


def _checked(block: bytes, at: int) -> tuple[bytes, int]:
    """Type and size, from a header whose sum is right."""
    stated = _number(block[148:156])
    if stated != sum(block[:148]) + 8 * 32 + sum(block[156:]):
        raise TarError(f"no tar header at byte {at - BLOCK}: its sum is wrong")
    return block[156:157], _number(block[124:136])


def _number(field: bytes) -> int:
    if field[0] & 0x80:
        value = int.from_bytes(bytes([field[0] & 0x7F]) + field[1:], "big")
        if field[0] & 0x40 or value >> 62:
            raise TarError("a number in a header that is negative or too large")
        return value
    digits = field.strip(b"\0 ")
    if digits.strip(b"01234567"):
        raise TarError(f"a number in a header that is {digits!r}, expected octal digits")
    return int(digits or b"0", 8)


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "surrogateescape")


def _name(block: bytes) -> str:
    name, prefix = _text(block[:100]), _text(block[345:500])
    return f"{prefix}/{name}" if block[257:263] == b"ustar\0" and prefix else name


def _records(content: bytes) -> dict[str, str]:
    """PAX records: `LENGTH KEY=VALUE` and a newline, where LENGTH counts all of it."""
    records = {}
    while content:
        length, space, _ = content[:20].partition(b" ")
        if not space or not length.isdigit() or not len(length) < int(length) <= len(content):
            raise TarError("a PAX record without its length")
        record, content = content[len(length) + 1 : int(length)], content[int(length) :]
        key, equals, value = record.partition(b"=")
        if not equals or not value.endswith(b"\n"):
            raise TarError("a PAX record that is cut")
        records[key.decode("utf-8", "surrogateescape")] = value[:-1].decode("utf-8", "surrogateescape")
    return records


def _check_rest(reader: Reader) -> None:
    """After the end mark there may be padding, and nothing else: readers that go on would see other members."""
    while rest := reader.upto(1 << 20):
        if rest.strip(b"\0"):
            raise TarError(f"something follows the end mark, before byte {reader.offset}")


def header(name: str, size: int, *, mode: int = 0o444) -> bytes:
    """The header of a regular file that belongs to root and has no date."""
    info = tarfile.TarInfo(name)
    info.size, info.mode = size, mode
    return info.tobuf(tarfile.GNU_FORMAT)


def file(name: str, content: Iterable[bytes], size: int, *, mode: int = 0o444) -> Iterator[bytes]:
    """A regular file as tar, in pieces; `content` must come to `size` bytes."""
    yield header(name, size, mode=mode)
    sent = 0
    for piece in content:
        sent += len(piece)
        if sent > size:
            break
        yield piece
    if sent != size:
        raise ValueError(f"{name} is not of {size} bytes")
    yield bytes(_padded(size) - size)


END = bytes(2 * BLOCK)
