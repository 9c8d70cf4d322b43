"""Checks of an image's layers. A layer is decompressed, hashed and parsed in one pass, without writing to disk."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from evaluator.errors import shown
from evaluator.sandbox.containers import tar
from evaluator.sandbox.containers.image_errors import LayerContentError, LayerDigestError, TooLargeError

CHUNK = 1 << 20
# Formats that an engine would decompress by their first bytes, regardless of the member's name.
_FOREIGN = {b"BZh": "bzip2", b"\xfd7zXZ\x00": "xz", b"\x28\xb5\x2f\xfd": "zstd", b"\x50\x2a\x4d\x18": "zstd"}
GZIP = b"\x1f\x8b"


@dataclass
class RemainingLimits:
    """The limits that remain for the layers that are not read yet.

    bytes, members: uncompressed bytes and files that all these layers together may have; at first the limits of the
    whole image, which are also in `most_bytes` and `most_members`.
    """

    bytes: int
    members: int

    def __post_init__(self) -> None:
        self.most_bytes, self.most_members = self.bytes, self.members

    def take_bytes(self, count: int, what: str) -> None:
        """Subtract `count` uncompressed bytes from what remains. Raises TooLargeError if fewer remain.

        what: the name of the layer that has these bytes, for the error text.
        """
        self.bytes -= count
        if self.bytes < 0:
            raise TooLargeError(
                f"{what} brings the uncompressed size to {self.most_bytes - self.bytes} bytes or more, expected at "
                f"most {self.most_bytes}"
            )

    def take_member(self, what: str) -> None:
        """Subtract one file from what remains. Raises TooLargeError if none remains.

        what: the name of the layer that has the file, for the error text.
        """
        self.members -= 1
        if self.members < 0:
            raise TooLargeError(
                f"{what} brings the image to {self.most_members - self.members} files or more, expected at most "
                f"{self.most_members} in all layers"
            )


def plain(pieces: Iterator[bytes], allowance: RemainingLimits, what: str) -> Iterator[bytes]:
    """Yield the bytes that an engine would unpack: gzip data decompressed, other data unchanged.

    allowance: its `bytes` are reduced by the number of bytes yielded. what: the name of the data in error texts. Raises
    TooLargeError; LayerContentError for damaged gzip data or another compression.
    """
    first = next(pieces, b"")
    for magic, name in _FOREIGN.items():
        if first.startswith(magic):
            raise LayerContentError(f"{what} is compressed with {name}, expected a plain tar or gzip")

    def rejoined() -> Iterator[bytes]:
        yield first
        yield from pieces

    for piece in _gunzipped(rejoined(), what) if first.startswith(GZIP) else rejoined():
        allowance.take_bytes(len(piece), what)
        yield piece


def _gunzipped(pieces: Iterator[bytes], what: str) -> Iterator[bytes]:
    """Yield the decompressed content of one gzip stream. Further data after it is an error.

    Raises LayerContentError.
    """
    unpacker = zlib.decompressobj(wbits=31)
    for piece in pieces:
        waiting = piece
        while waiting or unpacker.unconsumed_tail:
            if unpacker.eof:
                raise LayerContentError(f"{what}: data after the end of the gzip data, expected none")
            try:
                out = unpacker.decompress(waiting, CHUNK)
            except zlib.error:
                raise LayerContentError(f"{what}: the gzip data is damaged") from None
            if out:
                yield out
            waiting = unpacker.unused_data if unpacker.eof else unpacker.unconsumed_tail
            if not waiting:
                break
    if not unpacker.eof:
        raise LayerContentError(f"{what}: the gzip data ends too early")


def check_layer(pieces: Iterator[bytes], diff_id: str, allowance: RemainingLimits, what: str) -> int:
    """Check a layer and return its uncompressed size in bytes.

    pieces: the layer's bytes. diff_id: the digest that the layer must have. allowance: reduced by the layer's bytes and
    files. what: the layer's name in error texts. Raises LayerDigestError, LayerContentError, TooLargeError.
    """
    digest = hashlib.sha256()
    size = 0

    def watched() -> Iterator[bytes]:
        nonlocal size
        for piece in plain(pieces, allowance, what):
            digest.update(piece)
            size += len(piece)
            yield piece

    try:
        for member in tar.members(tar.Reader(watched())):
            allowance.take_member(what)
            if member.kind == "sparse file":
                raise LayerContentError(f"{what} has a sparse file, {shown(member.name)}, expected regular files")
            if ".." in member.name.split("/"):
                raise LayerContentError(f"{what} has the path {shown(member.name)}, expected a path without ..")
    except tar.TarError as problem:
        raise LayerContentError(f"{what} is not a tar: {problem}") from None
    actual = f"sha256:{digest.hexdigest()}"
    if actual != diff_id:
        raise LayerDigestError(f"{what} is {actual}, expected {diff_id} as in the image's config")
    return size
