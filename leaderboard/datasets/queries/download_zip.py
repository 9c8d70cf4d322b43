"""What everybody may take home of a split, as one ZIP: its inputs, what they are, under which licence, how to cite.

Nothing of it is read from gold. The members are stored as they are, with one date and in one order, so that the same
split gives the same bytes on every machine, and a download costs no compressing.
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
"""The first that a ZIP can say."""
_PIECE = 1 << 20
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
    """A file that cannot be sought, whose bytes are handed on as they come."""

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
    """The members beside the inputs, by name."""
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
    """Changes when any byte of the archive does: SHA256SUMS stands for the inputs."""
    told = hashlib.sha256()
    for name, content in sorted(members.items()):
        told.update(f"{name} {len(content)}\n".encode() + content)
    return told.hexdigest()


def pieces(split: Split, members: dict[str, bytes]) -> Iterator[bytes]:
    """The archive from its beginning to its end. members: as `texts` gives them. split: one with public inputs."""
    outlet = _Outlet()
    with ZipFile(_file(outlet), "w", ZIP_STORED) as archive:
        for name, content in sorted(members.items()):
            archive.writestr(_member(name), content)
        yield outlet.taken()
        # Its size is known beforehand, so that the header says whether it needs 64 bits.
        with opened(split.inputs) as source, closing(_begun(archive, split)) as member:
            while piece := source.read(_PIECE):
                member.write(piece)
                yield outlet.taken()
    yield outlet.taken()


def _file(outlet: _Outlet) -> Any:
    return outlet


def _begun(archive: ZipFile, split: Split) -> IO[bytes]:
    return archive.open(_member(INPUTS), "w", force_zip64=split.inputs_bytes >= 1 << 31)


def _member(name: str) -> ZipInfo:
    member = ZipInfo(name, _DATE)
    member.compress_type = ZIP_STORED
    member.create_system = 3  # Unix, whatever this machine is
    member.external_attr = 0o100644 << 16
    return member
