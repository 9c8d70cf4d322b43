"""ZIP archive of a split for download: inputs, README, licence, citation and checksums.

The archive never contains gold. Its files are stored uncompressed, with a fixed date and order, so that the archive of
a split is byte-identical on every machine and a download costs no compression.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import closing
from typing import IO, Any
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from leaderboard.core.storage import opened
from leaderboard.models import Benchmark, Split

INPUTS = "inputs.jsonl"
_DATE = (1980, 1, 1, 0, 0, 0)
"""Earliest date that ZIP can represent."""
_CHUNK_SIZE = 1 << 20
_README = """{title}: inputs of the split "{split}"

Benchmark   {benchmark}
Task        {task}
Split       {split} ({kind}), dataset {dataset}
Published   {published}
Inputs      {inputs}, {bytes} bytes
            sha256 {sha256}
Gold        {gold}

Each line of {inputs} is one item, as JSON. A system gets these and nothing else.
{source}"""


class _Outlet:
    """Write-only file object that buffers the bytes that ZipFile writes; `taken` returns and removes them."""

    def __init__(self) -> None:
        self._waiting: list[bytes] = []

    def write(self, piece: bytes) -> int:
        self._waiting.append(bytes(piece))
        return len(piece)

    def flush(self) -> None:
        return

    def taken(self) -> bytes:
        pieces, self._waiting = b"".join(self._waiting), []
        return pieces


def texts(benchmark: Benchmark, split: Split) -> dict[str, bytes]:
    """Return the contents of the files in a split's ZIP archive, except the inputs, by file name."""
    dataset = split.dataset
    readme = _README.format(
        title=benchmark.title,
        benchmark=benchmark.slug,
        task=benchmark.task,
        split=split.name,
        kind=split.kind,
        dataset=dataset.slug,
        published=split.published_at.strftime("%Y-%m-%d") if split.published_at else "not yet",
        inputs=INPUTS,
        bytes=split.inputs_bytes,
        sha256=split.inputs_sha256,
        gold="public, a file of its own" if split.gold_public else "held out; answers are scored by the server",
        source=f"From {dataset.source_url}\n" if dataset.source_url else "",
    )
    return {
        "CITATION.txt": f"{dataset.citation or 'Not stated.'}\n".encode(),
        "LICENCE.txt": f"{dataset.licence or 'Not stated.'}\n".encode(),
        "README.txt": readme.encode(),
        "SHA256SUMS": f"{split.inputs_sha256}  {INPUTS}\n".encode(),
    }


def digest(members: dict[str, bytes]) -> str:
    """Return a hexadecimal SHA-256 that changes whenever a byte of a split's ZIP archive changes.

    The inputs need not be read, because SHA256SUMS, one of the `members`, contains their digest. members: as returned
    by `texts`.
    """
    sha256 = hashlib.sha256()
    for name, content in sorted(members.items()):
        sha256.update(f"{name} {len(content)}\n".encode() + content)
    return sha256.hexdigest()


def pieces(split: Split, members: dict[str, bytes]) -> Iterator[bytes]:
    """Yield the ZIP archive of a split with public inputs, in chunks. members: as returned by `texts`."""
    outlet = _Outlet()
    with ZipFile(_as_file(outlet), "w", ZIP_STORED) as archive:
        for name, content in sorted(members.items()):
            archive.writestr(_member(name), content)
        yield outlet.taken()
        # The size of the inputs is known in advance, so their header can declare whether it needs 64 bits.
        with opened(split.inputs) as source, closing(_open_inputs(archive, split)) as member:
            while piece := source.read(_CHUNK_SIZE):
                member.write(piece)
                yield outlet.taken()
    yield outlet.taken()


def _as_file(outlet: _Outlet) -> Any:
    return outlet


def _open_inputs(archive: ZipFile, split: Split) -> IO[bytes]:
    return archive.open(_member(INPUTS), "w", force_zip64=split.inputs_bytes >= 1 << 31)


def _member(name: str) -> ZipInfo:
    member = ZipInfo(name, _DATE)
    member.compress_type = ZIP_STORED
    member.create_system = 3  # Unix, so that the bytes do not depend on the server's operating system
    member.external_attr = 0o100644 << 16
    return member
