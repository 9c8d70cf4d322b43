"""Strict tar: archives written by Python are read, and irregular ones are refused."""

from __future__ import annotations

import io
import tarfile

import pytest

from evaluator.sandbox.containers import tar
from tests.evaluator.sandbox.containers.archives import member, tarred

KINDS = {
    "file": tarfile.REGTYPE,
    "folder": tarfile.DIRTYPE,
    "symlink": tarfile.SYMTYPE,
    "hard link": tarfile.LNKTYPE,
    "FIFO": tarfile.FIFOTYPE,
    "character device": tarfile.CHRTYPE,
    "block device": tarfile.BLKTYPE,
}


def read(content: bytes, piece: int = 1000) -> list[tar.Member]:
    pieces = (content[start : start + piece] for start in range(0, len(content), piece))
    return list(tar.members(tar.Reader(pieces)))


@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("piece", [1, 511, 512, 4096])
def test_archives_written_by_python_are_read(format: int, piece: int) -> None:
    long = "folder/" * 13 + "f"  # in USTAR a prefix and a name
    members = [member(f"{kind}", type=flag, linkname="to") for kind, flag in KINDS.items() if kind != "file"]
    members += [member("file", b"x" * 700), member(long, b"y"), member("é", b"")]
    entries = read(tarred(members, format), piece)
    assert [(entry.name.rstrip("/"), entry.size) for entry in entries] == [
        (info.name, info.size) for info, _ in members
    ]
    assert [entry.kind for entry in entries[: len(KINDS) - 1]] == [kind for kind in KINDS if kind != "file"]


@pytest.mark.parametrize("format", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names(format: int) -> None:
    name, target = "n" * 500, "t" * 500
    entries = read(tarred([member(name, b"x"), member("l", type=tarfile.SYMTYPE, linkname=target)], format))
    assert entries[0].name == name
    assert entries[1].target == target


def test_content_of_members_may_be_skipped_or_read() -> None:
    reader = tar.Reader([tarred([member("a", b"first"), member("b", b"second"), member("c", b"third")])])
    contents = [b"".join(reader.content(entry.size)) for entry in tar.members(reader) if entry.name == "b"]
    assert contents == [b"second"]


def edited(content: bytes, offset: int, new: bytes) -> bytes:
    """The archive with a field of its first header replaced and the checksum corrected."""
    block = bytearray(content[:512])
    block[offset : offset + len(new)] = new
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block) + content[512:]


PLAIN = tarred([member("a", b"x" * 600)])
IRREGULAR = {
    "negative size": edited(PLAIN, 124, b"\xff" * 12),
    "huge size": edited(PLAIN, 124, b"\x80" + b"\x7f" * 11),
    "size of no digits": edited(PLAIN, 124, b"0000000009x\0"),
    "size with a sign": edited(PLAIN, 124, b"-0000001000\0"),
    "unknown type": edited(PLAIN, 156, b"V"),
    "symlink with content": edited(PLAIN, 156, b"2"),
    "folder with content": edited(PLAIN, 156, b"5"),
    "old folder with content": edited(edited(PLAIN, 156, b"\0"), 0, b"a/\0"),
    "wrong sum": PLAIN[:10] + b"z" + PLAIN[11:],
    "cut in a header": PLAIN[:400],
    "cut in content": PLAIN[:900],
    "something after the end": PLAIN + b"x",
    "a member after the end": tarred([member("a")]) + PLAIN,
    "one zero block only": PLAIN[:1536] + bytes(512) + PLAIN,
    "PAX without lengths": edited(PLAIN, 156, b"x"),
    "long name of two megabytes": edited(edited(PLAIN, 156, b"L"), 124, b"00010000000\0"),
}


@pytest.mark.parametrize("name", IRREGULAR)
def test_irregular_archives_are_refused(name: str) -> None:
    with pytest.raises(tar.TarError):
        read(IRREGULAR[name])


def test_errors_give_the_position() -> None:
    with pytest.raises(tar.TarError, match=r"the header at byte 0 has the type b'V', expected a file, folder or link"):
        read(IRREGULAR["unknown type"])
    with pytest.raises(tar.TarError, match=f"byte {len(PLAIN) + 3}, after the end marker, is 0x78, expected zeros"):
        read(PLAIN + bytes(3) + b"x" + bytes(5))


@pytest.mark.parametrize(
    "record", [b"0 a=b\n", b"1 a=b\n", b"99 a=b\n", b"-6 a=b\n", b"6 ab\n\n", b"6 a=bc", b"x a=b\n"]
)
def test_pax_records_with_a_wrong_length_are_refused(record: bytes) -> None:
    content = edited(tarred([member("p", record), member("a")]), 156, b"x")
    with pytest.raises(tar.TarError):
        read(content)


def test_the_size_in_a_pax_header_is_used() -> None:
    """Engines write the size of a file over 8 GiB this way; readers that disagree on it see different members."""
    hidden = tarred([member("hidden", b"y")])[:1024]
    archive_bytes = tarred([member("a", hidden, pax_headers={"size": "0"})], tarfile.PAX_FORMAT)
    assert [entry.name for entry in read(archive_bytes)] == ["a", "hidden"]
    assert [entry.size for entry in read(archive_bytes)] == [0, 1]


def test_python_reads_the_archives_that_we_write() -> None:
    content = b"".join([*tar.file("a", [b"x" * 1000, b"y"], 1001), *tar.file("b", [], 0), tar.END])
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        assert {info.name: archive.extractfile(info).read() for info in archive} == {"a": b"x" * 1000 + b"y", "b": b""}  # type: ignore[union-attr]


@pytest.mark.parametrize("content", [[b"x"], [b"xxx"]])
def test_content_of_another_size_than_declared_is_refused(content: list[bytes]) -> None:
    with pytest.raises(ValueError, match="expected 2"):
        list(tar.file("a", content, 2))
