"""Errors of reading an archive."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from zipfile import BadZipFile

import structlog

log = structlog.get_logger(__name__)


class ArchiveError(Exception):
    """Error: an archive cannot be imported. `lines` are the reasons, each one line of text for the curator."""

    def __init__(self, *lines: str) -> None:
        super().__init__("\n".join(lines))
        self.lines = lines


class ArchiveConflictError(ArchiveError):
    """Error: rows of the archive conflict with other rows on this server, such as a team with the same name."""


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn every error of the block, which reads a file of an archive, into an ArchiveError that names the file.

    what: the file's path in the archive. The file may come from anybody, so any error of a parser is the file's.
    Errors of the machine, such as a full disk, pass.
    """
    try:
        yield
    except (ArchiveError, OSError):
        raise
    except (BadZipFile, zlib.error, EOFError) as error:
        raise ArchiveError(f"{what} is damaged or was altered after the export: {error}") from error
    except Exception as error:
        log.warning("archive_unreadable", error=type(error).__name__)
        raise ArchiveError(f"{what} is damaged, or was not written by an export") from error
