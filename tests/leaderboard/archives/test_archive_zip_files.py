"""ZIP files that no export writes are refused before they are unpacked, and passphrases that cost too much."""

from __future__ import annotations

import io
import stat
import zipfile

import pytest

from leaderboard.archives.actions import encryption, zip_files
from leaderboard.archives.actions.errors import ArchiveError
from tests.support.rows.archive_files import overlapping, zipped


def two_of_a_name() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive, pytest.warns(UserWarning):
        archive.writestr("a", "1")
        archive.writestr("a", "2")
    return buffer.getvalue()


BAD_ZIPS = {
    "empty": (b"", "not a ZIP file"),
    "no zip": (b"no archive at all", "not a ZIP file"),
    "cut off": (zipped()[:-10], "not a ZIP file"),
    "overlapping": (lambda: overlapping(200), "overlap"),
    "unpacks too far": (lambda: zipped(content=bytes(200 << 20)), "would unpack to"),
    "lying size": (lambda: zipped(file_size=1 << 40), "would unpack to"),
    "encrypted": (lambda: zipped(flag_bits=1), "is encrypted"),
    "twice": (two_of_a_name, "has two files a"),
    "absolute": (lambda: zipped(filename="/etc/passwd"), "unsafe path"),
    "outside": (lambda: zipped(filename="../a"), "unsafe path"),
    "backslash": (lambda: zipped(filename="..\\a"), "unsafe path"),
    "unprintable": (lambda: zipped(filename="a\x1bb"), "unsafe path"),
    "another version": (lambda: zipped(extract_version=99), "its directory is invalid"),
    "folder": (lambda: zipped(filename="a/", content=b""), "a folder"),
    "link": (lambda: zipped(external_attr=(stat.S_IFLNK | 0o777) << 16), "a link"),
    "fifo": (lambda: zipped(external_attr=stat.S_IFIFO << 16), "a device"),
    "lzma": (lambda: zipped(compress_type=zipfile.ZIP_LZMA), "method 14"),
    "truncated entry": (lambda: zipped(compress_size=1 << 30), "cut off"),
}


@pytest.mark.parametrize("kind", BAD_ZIPS)
def test_a_zip_file_that_no_export_writes_is_refused_before_it_is_unpacked(kind: str) -> None:
    content, expected = BAD_ZIPS[kind]
    content = content() if callable(content) else content
    with (
        pytest.raises(ArchiveError, match=expected),
        zip_files.opened(io.BytesIO(content), what="the archive", most=999),
    ):
        pytest.fail("opened")


def test_too_many_files_are_refused_while_their_list_is_read() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for number in range(11):
            archive.writestr(str(number), "")
    with pytest.raises(ArchiveError, match="11 files; expected at most 10"):
        zip_files.opened(buffer, what="the archive", most=10).__enter__()


def test_a_long_directory_is_not_read_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_files, "LONGEST_DIRECTORY", 200)
    content = zipped(filename="a" * 300)
    with pytest.raises(ArchiveError, match="the archive has a directory of 346 bytes; expected at most 200"):
        zip_files.opened(io.BytesIO(content), what="the archive", most=10).__enter__()


def test_a_long_line_is_not_read_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_files, "LONGEST_LINE", 1_000_000)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", b"{}\n" + bytes(20_000_000))
    read = 0
    with (
        zipfile.ZipFile(buffer) as archive,
        pytest.raises(ArchiveError, match="a, line 2 is longer than 1,000,000 bytes"),
    ):
        for _ in zip_files.lines(archive, "a"):
            read += 1
    assert read == 1


def test_a_passphrase_that_costs_too_much_is_not_tried() -> None:
    header = b"age-encryption.org/v1\n-> scrypt 1/dfGPzmLYUIFzzvpHh8wA 22\n"
    with pytest.raises(encryption.InvalidKeyError, match="needs more work"):
        encryption.unprotected(header + b"x", "a passphrase")
