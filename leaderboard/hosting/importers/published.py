"""Published files as they lie in a folder: found by name, read by lines, written out as gold that knows its origin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import msgspec

Line = TypeVar("Line", bound=msgspec.Struct)
Record = TypeVar("Record")
DEPTH = 2
"""Published archives have the files at the top or one folder down."""


class ImportFault(Exception):
    """Published files that cannot be used: `FILE:LINE: what, found ..., expected ...`."""


def find(folder: Path, names: Sequence[str], *, but: str = "") -> Path | None:
    """The one file of these names in the folder or a folder in it; raises ImportFault where there are several.

    Files in a folder of the name `but` are other files of the same names.
    """
    if not folder.is_dir():
        raise ImportFault(f"{folder}: no such folder; expected the one with the published files")
    paths = (path for name in names for path in (folder / name, *folder.glob(f"*/{name}")))
    found = sorted(path for path in paths if path.is_file() and path.parent.name != but)
    if len(found) > 1:
        raise ImportFault(f"{folder}: found {' and '.join(map(str, found))}; expected one of them")
    return found[0] if found else None


def demand(folder: Path, names: Sequence[str]) -> Path:
    """The same, where there must be one."""
    path = find(folder, names)
    if path is None:
        raise ImportFault(
            f"{folder}: found no {' or '.join(names)}; expected the published file here or one folder down"
        )
    return path


def lines(path: Path, layout: type[Line]) -> Iterator[tuple[int, bytes, Line]]:
    """(line number, the line's bytes, what we need of it); raises ImportFault that says where.

    This reads only what decides where a line goes. The referee reads each line strictly when it is hosted.
    """
    decode = msgspec.json.Decoder(layout).decode
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            try:
                yield number, line.rstrip(b"\r\n"), decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise ImportFault(f"{path.name}:{number}: {error}") from error


def records(path: Path, layout: type[Record]) -> Iterator[tuple[int, Record]]:
    """(line on which it begins, what we need of it) of each object in a file that is one JSON list."""
    content = path.read_bytes()
    try:
        found = msgspec.json.decode(content, type=list[msgspec.Raw])
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise ImportFault(f"{path.name}: {error}, expected a JSON list of objects") from error
    decode = msgspec.json.Decoder(layout).decode
    place, number = 0, 1
    for record in found:
        raw = bytes(record)
        begin = content.index(raw, place)
        number += content.count(b"\n", place, begin)
        try:
            yield number, decode(record)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise ImportFault(f"{path.name}:{number}: {error}") from error
        number += raw.count(b"\n")
        place = begin + len(raw)


def rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[int, list[str]]]:
    """(line number, cells) of a file of tab-separated columns with a header; raises ImportFault that says where."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            cells = text(path, number, line).split("\t")
            if number == 1 and cells != list(columns):
                raise ImportFault(f"{path.name}:1: header, found {' '.join(cells)}, expected {' '.join(columns)}")
            if len(cells) != len(columns):
                raise ImportFault(f"{path.name}:{number}: found {len(cells)} columns, expected {len(columns)}")
            if number > 1:
                yield number, cells


def text(path: Path, number: int, line: bytes) -> str:
    """A line of a text file without its end; raises ImportFault for what cannot stand in gold."""
    try:
        found = line.rstrip(b"\r\n").decode()
    except UnicodeDecodeError as error:
        raise ImportFault(f"{path.name}:{number}: found byte {line[error.start]:#04x}, expected UTF-8") from error
    if "\0" in found:
        raise ImportFault(f"{path.name}:{number}: found a NUL, expected text")
    return found


@dataclass
class Origins:
    """Where each line of a written file came from, so that a fault is told in the curator's own file."""

    _lines: dict[str, list[tuple[str, int]]] = field(default_factory=dict)

    def write(self, target: Path, content: Sequence[tuple[bytes, Path, int]]) -> None:
        """A gold file of (line, source, line number there)."""
        with target.open("xb") as file:
            file.writelines(line + b"\n" for line, _, _ in content)
        self._lines[target.name] = [(source.name, number) for _, source, number in content]

    def of(self, file: str, line: int | None) -> str:
        """`SOURCE:LINE` of a line that was written; files that are hosted where they lie are their own source."""
        written = self._lines.get(file)
        if written is None and line is not None:
            return f"{file}:{line}"
        if written is None or line is None or not 1 <= line <= len(written):
            return file
        return "{}:{}".format(*written[line - 1])
