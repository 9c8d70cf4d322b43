"""Published files: find them by name, read their lines, and write gold while recording the origin of each line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

Line = TypeVar("Line", bound=msgspec.Struct)
Record = TypeVar("Record")
GoldLine = tuple[bytes, Path, int]
"""(line of gold, the published file that it comes from, line number in that file)."""
DEPTH = 2
"""Number of folder levels that are searched: published archives have the files at the top level or one folder down."""


class PublishedFileError(Exception):
    """Published files cannot be imported. The message has the form `FILE:LINE: WHAT, found ..., expected ...`.

    `:LINE` is missing if the whole file is meant.
    """


def find(folder: Path, names: Sequence[str], *, but: str = "") -> Path | None:
    """Return the only file with one of these names in the folder or a direct subfolder; None if there is none.

    but: name of a subfolder that is ignored, because it has other files of the same names; empty: none. Raises
    PublishedFileError if there are several such files, or if `folder` does not exist.
    """
    if not folder.is_dir():
        raise PublishedFileError(f"{folder}: no such folder; expected the one with the published files")
    paths = (path for name in names for path in (folder / name, *folder.glob(f"*/{name}")))
    matches = sorted(path for path in paths if path.is_file() and path.parent.name != but)
    if len(matches) > 1:
        raise PublishedFileError(f"{folder}: found {' and '.join(map(str, matches))}; expected only one of them")
    return matches[0] if matches else None


def demand(folder: Path, names: Sequence[str]) -> Path:
    """Return the only file with one of these names in the folder or a direct subfolder, as `find` does.

    Raises PublishedFileError if there is none.
    """
    path = find(folder, names)
    if path is None:
        raise PublishedFileError(
            f"{folder}: found no {' or '.join(names)}; expected the published file here or one folder down"
        )
    return path


def missing(folder: Path, names: Sequence[str]) -> PublishedFileError:
    """Return the error which says that a folder has no file with one of these names."""
    return PublishedFileError(f"{folder}: found no {' or '.join(names)}; expected one here or one folder down")


def leak(public: str, hidden: str, n: int) -> PublishedFileError:
    """Return the error which says that public gold has `n` answers of hidden gold. public, hidden: names of splits."""
    return PublishedFileError(
        f"public gold of {public} would reveal {n} answers of {hidden}; make the gold of both public or of both "
        "hidden, or import from a folder without one of the two files"
    )


def lines(path: Path, layout: type[Line]) -> Iterator[tuple[int, bytes, Line]]:
    """Yield (line number, line as bytes, the line decoded as `layout`) for each line of a JSON Lines file.

    layout: a struct with only the fields that an importer needs. The sandbox validates each line strictly when the file
    is hosted. Raises PublishedFileError, with the location, for a line that does not fit `layout`.
    """
    decode = msgspec.json.Decoder(layout).decode
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield number, line.rstrip(b"\r\n"), decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise PublishedFileError(f"{path.name}:{number}: {error}") from error


def records(path: Path, layout: type[Record]) -> Iterator[tuple[int, Record]]:
    """Yield (number of its first line, the object decoded as `layout`) for each object in a file that is one JSON list.

    Raises PublishedFileError, with the location, for an object that does not fit `layout`.
    """
    content = path.read_bytes()
    try:
        items = msgspec.json.decode(content, type=list[msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise PublishedFileError(f"{path.name}: {error}, expected a JSON list of objects") from error
    decode = msgspec.json.Decoder(layout).decode
    position, number = 0, 1
    for record in items:
        raw = bytes(record)
        begin = content.index(raw, position)
        number += content.count(b"\n", position, begin)
        try:
            yield number, decode(record)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise PublishedFileError(f"{path.name}:{number}: {error}") from error
        number += raw.count(b"\n")
        position = begin + len(raw)


def rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number, values) for each line of a TSV file after its header, which must be `columns`.

    Raises PublishedFileError, with the location, for another header or another number of columns.
    """
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            fields = text(path, number, line).split("\t")
            if number == 1 and fields != list(columns):
                raise PublishedFileError(
                    f"{path.name}:1: header, found {' '.join(fields)}, expected {' '.join(columns)}"
                )
            if len(fields) != len(columns):
                raise PublishedFileError(f"{path.name}:{number}: found {len(fields)} columns, expected {len(columns)}")
            if number > 1:
                yield number, fields


def text(path: Path, number: int, line: bytes) -> str:
    """Return a line as text without its line ending. path, number: the line's file and number, for messages.

    Raises PublishedFileError for invalid UTF-8 and for NUL characters.
    """
    try:
        decoded = line.rstrip(b"\r\n").decode()
    except UnicodeDecodeError as error:
        raise PublishedFileError(
            f"{path.name}:{number}: found byte {line[error.start]:#04x}, expected UTF-8"
        ) from error
    if "\0" in decoded:
        raise PublishedFileError(f"{path.name}:{number}: found a NUL, expected text")
    return decoded


@dataclass
class Origins:
    """The published line from which each line in the files of an importer was made.

    An error in such a file can then be reported at the line of the published file.
    """

    _lines: dict[str, list[tuple[str, int]]] = field(default_factory=dict)

    def write(self, target: Path, content: Sequence[GoldLine]) -> None:
        """Write a new gold file, and record from which published line each of its lines was made."""
        with target.open("xb") as file:
            file.writelines(line + b"\n" for line, _, _ in content)
        self._lines[target.name] = [(source.name, number) for _, source, number in content]

    def of(self, file: str, line: int | None) -> str:
        """Return the published origin of a line as `SOURCE:LINE`.

        file: name of a file. line: number of a line in it, from 1; None for the whole file, for which `file` is
        returned. A line in a file that `write` did not write is its own origin, `FILE:LINE`.
        """
        written = self._lines.get(file)
        if written is None and line is not None:
            return f"{file}:{line}"
        if written is None or line is None or not 1 <= line <= len(written):
            return file
        return "{}:{}".format(*written[line - 1])
