"""Tar, strictly: what Python writes is read, and what is odd is refused."""

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
def test_what_python_writes_is_read(format: int, piece: int) -> None:
    long = "folder/" * 13 + "f"  # in USTAR a prefix and a name
    members = [member(f"{kind}", type=flag, linkname="to") for kind, flag in KINDS.items() if kind != "file"]
    members += [member("file", b"x" * 700), member(long, b"y"), member("é", b"")]
    found = read(tarred(members, format), piece)
    assert [(one.name.rstrip("/"), one.size) for one in found] == [(info.name, info.size) for info, _ in members]
    assert [one.kind for one in found[: len(KINDS) - 1]] == [kind for kind in KINDS if kind != "file"]


@pytest.mark.parametrize("format", [tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_long_names(format: int) -> None:
    name, target = "n" * 500, "t" * 500
    found = read(tarred([member(name, b"x"), member("l", type=tarfile.SYMTYPE, linkname=target)], format))
    assert found[0].name == name
    assert found[1].target == target


def test_content_left_and_content_taken() -> None:
    reader = tar.Reader([tarred([member("a", b"first"), member("b", b"second"), member("c", b"third")])])
    taken = [b"".join(reader.content(one.size)) for one in tar.members(reader) if one.name == "b"]
    assert taken == [b"second"]


def edited(content: bytes, at: int, new: bytes) -> bytes:
    """A header's field, with its sum put right."""
    block = bytearray(content[:512])
    block[at : at + len(new)] = new
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    return bytes(block) + content[512:]


PLAIN = tarred([member("a", b"x" * 600)])
ODD = {
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


@pytest.mark.parametrize("name", ODD)
def test_what_is_odd_is_refused(name: str) -> None:
    with pytest.raises(tar.TarError):
        read(ODD[name])


@pytest.mark.parametrize(
    "record", [b"0 a=b\n", b"1 a=b\n", b"99 a=b\n", b"-6 a=b\n", b"6 ab\n\n", b"6 a=bc", b"x a=b\n"]
)
def test_pax_records_that_lie_about_their_length(record: bytes) -> None:
    content = edited(tarred([member("p", record), member("a")]), 156, b"x")
    with pytest.raises(tar.TarError):
        read(content)


def test_a_pax_size_counts() -> None:
    """Engines write the size of a file over 8 GiB so; two readers that disagree on it see other members."""
    hidden = tarred([member("hidden", b"y")])[:1024]
    held = tarred([member("a", hidden, pax_headers={"size": "0"})], tarfile.PAX_FORMAT)
    assert [one.name for one in read(held)] == ["a", "hidden"]
    assert [one.size for one in read(held)] == [0, 1]


def test_what_is_written_is_what_python_reads() -> None:
    content = b"".join([*tar.file("a", [b"x" * 1000, b"y"], 1001), *tar.file("b", [], 0), tar.END])
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        assert {info.name: archive.extractfile(info).read() for info in archive} == {"a": b"x" * 1000 + b"y", "b": b""}  # type: ignore[union-attr]


@pytest.mark.parametrize("content", [[b"x"], [b"xxx"]])
def test_a_file_is_of_the_size_it_was_said_to_be(content: list[bytes]) -> None:
    with pytest.raises(ValueError, match="does not have 2 bytes"):
        list(tar.file("a", content, 2))
