"""Immutable files of a remote store are fetched once, kept within the space, and never served if they are damaged."""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest

from leaderboard.core import file_cache


@pytest.fixture
def folder(settings, tmp_path: Path) -> Path:
    settings.FILE_CACHE, settings.FILE_CACHE_BYTES = tmp_path / "copies", 10
    return settings.FILE_CACHE


class Remote:
    """A remote file that counts how often it is fetched."""

    def __init__(self, content: bytes) -> None:
        self.content, self.sha256, self.fetched = content, hashlib.sha256(content).hexdigest(), 0

    def __call__(self, into: IO[bytes]) -> None:
        self.fetched += 1
        into.write(self.content)

    def read(self, fetch: Callable[[IO[bytes]], None] | None = None) -> bytes:
        with file_cache.opened(self.sha256, fetch or self) as file:
            access = fcntl.fcntl(file.fileno(), fcntl.F_GETFL) & os.O_ACCMODE
            assert access == os.O_RDONLY, "a container's inputs must not be open for writing"
            assert os.pread(file.fileno(), 100, 0) == self.content[:100] or fetch
            return file.read()


def test_a_file_is_fetched_once(folder: Path) -> None:
    remote = Remote(b"gold")
    assert [remote.read(), remote.read()] == [b"gold", b"gold"]
    assert remote.fetched == 1 and [path.name for path in folder.iterdir()] == [remote.sha256]
    assert folder.stat().st_mode & 0o777 == 0o700


def test_the_least_recently_used_copies_make_room(folder: Path) -> None:
    first, second, third = (Remote(content) for content in (b"1111", b"2222", b"3333"))
    for age, remote in ((30, first), (20, second)):
        remote.read()
        os.utime(folder / remote.sha256, (1e9 - age, 1e9 - age))
    first.read()
    third.read()
    assert {path.name for path in folder.iterdir()} == {first.sha256, third.sha256}


def test_a_file_larger_than_the_space_is_not_kept(folder: Path) -> None:
    large = Remote(b"x" * 11)
    assert large.read() == large.content and list(folder.iterdir()) == []


@pytest.mark.parametrize("reason", ["switched off", "no digest", "not writable"])
def test_without_a_cache_the_file_is_fetched_each_time(folder: Path, settings, monkeypatch, reason: str) -> None:
    remote = Remote(b"gold")
    if reason == "switched off":
        settings.FILE_CACHE_BYTES = 0
    elif reason == "no digest":
        remote.sha256 = ""
    else:
        monkeypatch.setattr(os, "access", lambda *_: False)
    assert [remote.read(), remote.read()] == [b"gold", b"gold"] and remote.fetched == 2
    assert not folder.exists() or list(folder.iterdir()) == []


def test_a_damaged_file_is_not_kept(folder: Path) -> None:
    remote = Remote(b"gold")
    assert remote.read(lambda into: into.write(b"else")) == b"else" and list(folder.iterdir()) == []


def test_a_fetch_that_fails_leaves_nothing(folder: Path) -> None:
    def fail(into: IO[bytes]) -> None:
        into.write(b"go")
        raise ConnectionError

    remote = Remote(b"gold")
    with pytest.raises(ConnectionError):
        remote.read(fail)
    assert list(folder.iterdir()) == [] and remote.read() == b"gold"


def test_a_copy_that_is_evicted_while_it_is_open_can_still_be_read(folder: Path) -> None:
    remote = Remote(b"gold")
    remote.read()
    with file_cache.opened(remote.sha256, remote) as file:
        (folder / remote.sha256).unlink()
        assert file.read() == b"gold"
