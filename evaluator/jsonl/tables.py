"""Curators' tables (CSV, TSV, XLSX, Parquet), read as JSON Lines and written from them.

One row is one line, and one column is one key of the line's object. A cell is text, unless the column's name ends in
`:json`: then it is JSON, such as a number, a list or an object. An empty cell is a key that the line lacks. No types
are guessed: `007`, `1e5`, `NA` and `TRUE` stay the strings that they are. Rows are numbered as a spreadsheet shows
them: the header is row 1.

The libraries are those behind pandas' readers. pandas itself would fill up short rows and guess types
(docs/adr/0057-tables-are-read-without-pandas.md).
"""

from __future__ import annotations

import csv
import datetime
import importlib
import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath
from types import SimpleNamespace
from typing import Any, BinaryIO

import msgspec

from evaluator.errors import GoldError, ProblemList, UsageError, shown
from evaluator.jsonl.decompress import ReadLimits, chunks

FORMATS = ("csv", "tsv", "xlsx", "parquet")
JSON_SUFFIX = ":json"
_SEPARATORS = {"csv": ",", "tsv": "\t"}
_VALUE_BYTES = 8  # of memory that a value takes at least, nulls included
_MOST_COLUMNS = 1000
_LONGEST_XLSX_CELL = 32_767
_MOST_XLSX_ROWS = 1_048_576
_PARQUET_BATCH = 100
"""Rows of a Parquet file in memory at a time: by a dictionary, each of them may be as long as the whole file."""
_CREATED = datetime.datetime(2000, 1, 1)
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NOT_XML = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]|x[0-9A-Fa-f]{4}_")
"""Characters that XML does not have, and what Excel writes for them between two underscores."""
_ESCAPED_CONTROL = re.compile(r"_x00([01][0-9A-Fa-f])_")
_KINDS = {"n": "a number", "d": "a date", "b": "a Boolean", "f": "a formula", "e": "an error"}
_DECODER = msgspec.json.Decoder()

Cells = Sequence[Any]
"""Cells of a row: text, None if empty, or a typed value of XLSX or Parquet."""


class _Typed:
    """A cell that is not text.

    value: the cell's JSON value, None if JSON cannot hold it. kind: its type, and where known its value, in words.
    """

    __slots__ = ("kind", "value")

    def __init__(self, value: int | float | bool | list[Any] | dict[str, Any] | None, kind: str) -> None:
        self.value, self.kind = value, kind


def table_format(name: str) -> str:
    """Return `csv`, `tsv`, `xlsx` or `parquet` if the file's name ends in it, in upper or lower case, else an empty
    string.
    """
    suffix = PurePath(name).suffix.lower().removeprefix(".")
    return suffix if suffix in FORMATS else ""


def first_line(problems: ProblemList) -> int:
    """Return the number of the first line of data of the file `problems.file`.

    It is 2 in a table, whose first row is the header, else 1.
    """
    return 2 if _is_table(problems) else 1


def line_chunks(stream: BinaryIO, limits: ReadLimits, problems: ProblemList) -> Iterator[bytes]:
    """Yield the file as JSON Lines in chunks: decompressed, or converted if it is a curator's table.

    Only gold can be a table: other files are not converted. Raises `problems.error` for a file that cannot be read.
    """
    if not _is_table(problems):
        yield from chunks(stream, limits, problems)
        return
    yield from _lines(stream, table_format(problems.file), limits, problems)


def _is_table(problems: ProblemList) -> bool:
    return bool(table_format(problems.file)) and issubclass(problems.error, GoldError)


def _lines(stream: BinaryIO, kind: str, limits: ReadLimits, problems: ProblemList) -> Iterator[bytes]:
    content = b"".join(chunks(stream, limits, problems))
    if not content:
        problems.stop(None, "the file is empty", "0 bytes", "a table with a header")
    rows = _READERS[kind](content, limits, problems)
    header = _header(next(rows, ()), problems)
    n_bytes = n_blank = 0
    for number, cells in enumerate(rows, 2):
        if not any(cell not in (None, "") for cell in cells):
            n_blank += 1  # spreadsheets end in blank rows
            continue
        for blank in range(number - n_blank, number):
            problems.add(blank, "blank row", "no cells", "one line per row, without blank rows between them")
            yield b"{}\n"
        n_blank = 0
        line = _line(header, cells, number, problems)
        n_bytes += len(line)
        if n_bytes > limits.file_bytes:
            size = f"{limits.file_bytes} bytes"
            problems.stop(number, "the table is too large", f"over {size} as JSON Lines", f"at most {size}")
        yield line
    problems.raise_if_any()
    if not n_bytes:
        problems.stop(None, "the table has no rows", "only a header", "one row per line")


def _header(cells: Cells, problems: ProblemList) -> list[tuple[str, bool]]:
    """Return (key, True if the column's cells are JSON) of each column. Raises the file's error for an invalid header.

    cells: the first row of the table.
    """
    names = [cell if isinstance(cell, str) else "" for cell in cells]
    while names and not names[-1] and cells[len(names) - 1] in (None, ""):
        names.pop()
    if len(names) > _MOST_COLUMNS:
        problems.stop(1, "too many columns", str(len(names)), f"at most {_MOST_COLUMNS}")
    if not names or not all(names):
        column = names.index("") + 1 if names else 1
        problems.stop(1, f"column {column} has no name", "no text", "a key in each column")
    if len(names) == 1 and (";" in names[0] or "\t" in names[0]):
        found = "semicolons" if ";" in names[0] else "tabs"
        problems.stop(1, "wrong separator", found, "commas in .csv, tabs in .tsv")
    keys = [(name.removesuffix(JSON_SUFFIX), name.endswith(JSON_SUFFIX)) for name in names]
    seen: set[str] = set()
    for key, _ in keys:
        if key in seen:
            problems.stop(1, "duplicate column", shown(key), "each key once")
        seen.add(key)
    return keys


def _line(header: list[tuple[str, bool]], cells: Cells, number: int, problems: ProblemList) -> bytes:
    if any(cell not in (None, "") for cell in cells[len(header) :]):
        problems.add(number, "too many cells", str(len(cells)), f"{len(header)}, as in the header")
        return b"{}\n"
    members = []
    for (key, is_json), cell in zip(header, cells, strict=False):
        if cell is None or cell == "":
            continue
        try:
            value = _value(cell, is_json)
        except ValueError as error:
            expected = (
                "JSON" if is_json else f"text; numbers, lists and objects are in a column {shown(key + JSON_SUFFIX)}"
            )
            problems.add(number, f"{key} is not valid", str(error), expected)
            continue
        members.append(msgspec.json.encode(key) + b": " + value)
    return b"{" + b", ".join(members) + b"}\n"


def _value(cell: Any, is_json: bool) -> bytes:
    """Return a cell as JSON.

    is_json: True if the cells of the column are JSON, False if they are text. Raises ValueError if the cell does not
    fit its column; the error's text says what was found.
    """
    if isinstance(cell, _Typed):
        if not is_json or cell.value is None:
            raise ValueError(cell.kind)
        return msgspec.json.encode(cell.value)
    if not is_json:
        return msgspec.json.encode(cell)
    try:
        _DECODER.decode(cell)
    except (msgspec.MsgspecError, RecursionError):
        raise ValueError(shown(cell)) from None
    # Outside of strings, a line break is white space; strings have none.
    return str(cell).encode().replace(b"\r", b" ").replace(b"\n", b" ")


def _separated(kind: str) -> Callable[[bytes, ReadLimits, ProblemList], Iterator[Cells]]:
    def read(content: bytes, limits: ReadLimits, problems: ProblemList) -> Iterator[Cells]:
        try:
            text = content.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            number = content.count(b"\n", 0, error.start) + 1
            problems.stop(number, "not UTF-8", f"0x{content[error.start]:02x}", "UTF-8; Excel saves it as CSV UTF-8")
        csv.field_size_limit(limits.line_bytes)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=_SEPARATORS[kind], strict=True)
        n_columns = 0
        row = 0
        try:
            for row, cells in enumerate(reader, 1):
                n_columns = n_columns or len(cells)
                if cells and len(cells) < n_columns:
                    problems.add(row, "too few cells", str(len(cells)), f"{n_columns}, as in the header")
                yield cells
        except csv.Error as error:
            problems.stop(row + 1, "the row cannot be read", str(error), "cells in double quotes where they need them")

    return read


def _library(name: str, problems: ProblemList) -> Any:
    """Import and return a library by name.

    Raises the file's error if the library is not installed, or cannot be loaded in the sandbox.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        package = name.partition(".")[0]
        kind = table_format(problems.file)
        problems.stop(None, f"{kind} files cannot be read here", f"no {package}", f"CSV, or: pip install {package}")


def _xlsx(content: bytes, limits: ReadLimits, problems: ProblemList) -> Iterator[Cells]:
    """Yield the rows of the workbook's only sheet. content: the bytes of the file.

    Raises the file's error for a workbook that is damaged, too large, or has several sheets.
    """
    openpyxl = _library("openpyxl", problems)
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
        _check_unpacked("workbook", unpacked, limits, problems)
        workbook = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=False, keep_links=False)
        sheets = workbook.worksheets
        if len(sheets) != 1:
            names = ", ".join(shown(sheet.title) for sheet in sheets[:5])
            problems.stop(None, "wrong number of sheets", f"{len(sheets)} ({names})", "one sheet")
        sheets[0].reset_dimensions()
        for row in sheets[0].iter_rows():
            yield [_xlsx_cell(cell) for cell in row]
    except GoldError:
        raise
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - openpyxl raises whatever a malformed part of the file causes
        problems.stop(None, "not a readable XLSX file", type(error).__name__, "a workbook as Excel saves it")


def _xlsx_cell(cell: Any) -> Any:
    value = cell.value
    if value is None or (isinstance(value, str) and cell.data_type not in ("f", "e")):
        return _ESCAPED_CONTROL.sub(lambda match: chr(int(match[1], 16)), value) if value else None
    if isinstance(value, bool | int | float) and cell.data_type in ("b", "n"):
        return _Typed(value, f"{_KINDS[cell.data_type]}, {shown(value)}")
    return _Typed(None, _KINDS.get(cell.data_type, "no text"))


def _parquet(content: bytes, limits: ReadLimits, problems: ProblemList) -> Iterator[Cells]:
    """Yield the rows of a Parquet file, the names of its columns first. content: the bytes of the file.

    The file is read without threads, since the sandbox has none. Raises the file's error for a file that is damaged or
    too large, or has columns that JSON cannot hold.
    """
    parquet, pyarrow = _library("pyarrow.parquet", problems), _library("pyarrow", problems)
    try:
        file = parquet.ParquetFile(pyarrow.BufferReader(content), pre_buffer=False)
        _check_size(file.metadata, len(content), limits, problems)
        header = []
        for column in file.schema_arrow:
            if not _has_json_type(column.type, pyarrow.types):
                expected = "text, numbers, Booleans, or lists and structs of them"
                problems.stop(1, f"column {shown(column.name)} has another type", str(column.type)[:80], expected)
            kind = column.type.value_type if pyarrow.types.is_dictionary(column.type) else column.type
            is_text = pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind)
            # The values of a column of another type are always JSON.
            header.append(column.name if is_text else column.name.removesuffix(JSON_SUFFIX) + JSON_SUFFIX)
        yield header
        for batch in file.iter_batches(batch_size=_PARQUET_BATCH, use_threads=False):
            columns = [column.to_pylist() for column in batch.columns]
            for row in zip(*columns, strict=True):
                yield [value if isinstance(value, str | None) else _parquet_cell(value) for value in row]
    except GoldError:
        raise
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - pyarrow raises whatever a malformed part of the file causes
        problems.stop(None, "not a readable Parquet file", type(error).__name__, "a Parquet file")


def _check_size(metadata: Any, n_bytes: int, limits: ReadLimits, problems: ProblemList) -> None:
    """Raise the file's error if a Parquet file's metadata declare too many rows, columns, bytes or values.

    Each value counts as at least one byte, since repeated values may take no space in the file. n_bytes: the size of
    the file.
    """
    if metadata.num_rows > limits.lines:
        problems.stop(None, "too many rows", str(metadata.num_rows), f"at most {limits.lines}")
    if metadata.num_columns > _MOST_COLUMNS:
        problems.stop(1, "too many columns", str(metadata.num_columns), f"at most {_MOST_COLUMNS}")
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    n_values = sum(group.column(index).num_values for group in groups for index in range(group.num_columns))
    unpacked = max(_VALUE_BYTES * n_values, sum(group.total_byte_size for group in groups))
    _check_unpacked("table", unpacked, limits, problems)


def _check_unpacked(what: str, unpacked: int, limits: ReadLimits, problems: ProblemList) -> None:
    """Raise the file's error if unpacked content is too large.

    what: the kind of content, for the message. unpacked: its size in bytes, at most `limits.file_bytes`.
    """
    if unpacked > limits.file_bytes:
        problems.stop(None, f"the {what} is too large", f"{unpacked} bytes unpacked", f"at most {limits.file_bytes}")


def _has_json_type(kind: Any, types: Any) -> bool:
    """Return True if JSON can hold the values of an Arrow type. kind: the type. types: the module pyarrow.types."""
    if types.is_dictionary(kind) or types.is_list(kind) or types.is_large_list(kind):
        return _has_json_type(kind.value_type, types)
    if types.is_struct(kind):
        return all(_has_json_type(kind.field(index).type, types) for index in range(kind.num_fields))
    simple = (types.is_string, types.is_large_string, types.is_integer, types.is_floating, types.is_boolean)
    return types.is_null(kind) or any(is_type(kind) for is_type in simple)


def _parquet_cell(value: Any) -> _Typed:
    """Return a cell that is not text. It has no value if JSON cannot hold the value, such as NaN, also in a list."""
    try:
        is_json = bool(_DECODER.decode(msgspec.json.encode(value)) == value)
    except (msgspec.MsgspecError, TypeError):
        is_json = False
    return _Typed(value if is_json else None, f"a value of type {type(value).__name__}, {shown(str(value))}")


_READERS: dict[str, Callable[[bytes, ReadLimits, ProblemList], Iterator[Cells]]] = {
    "csv": _separated("csv"),
    "tsv": _separated("tsv"),
    "xlsx": _xlsx,
    "parquet": _parquet,
}


def write_table(lines: Iterable[bytes], kind: str) -> bytes:
    """Return JSON Lines as a table, which `line_chunks` reads as the same lines.

    lines: valid JSON objects. kind: one of FORMATS. A column is text if all its cells are texts that can stand in a
    cell as they are (`_is_plain`); else its cells are JSON, and its name gets `:json`. Raises UsageError for values
    that the format cannot hold, and for an empty key.
    """
    rows = [_DECODER.decode(line) for line in lines]
    keys = list(dict.fromkeys(key for row in rows for key in row))
    if not all(keys):
        raise UsageError("a line has an empty key, expected names, which become those of columns")
    as_json = {key: not all(_is_plain(row[key], kind) for row in rows if key in row) for key in keys}
    header = [key + JSON_SUFFIX if as_json[key] or key.endswith(JSON_SUFFIX) else key for key in keys]
    as_json |= {key: True for key in keys if key.endswith(JSON_SUFFIX)}
    cells = ([_cell(row, key, as_json[key], kind) for key in keys] for row in rows)
    return _WRITERS[kind](header, cells)


def _is_plain(value: Any, kind: str) -> bool:
    """Return True for a value that can stand in a cell as it is: a non-empty text without special meaning in the
    format.

    kind: the format. In xlsx, the text must not have characters that XML lacks; in other formats, it must not look like
    a formula to spreadsheets.
    """
    if not isinstance(value, str) or not value:
        return False
    return not (_NOT_XML.search(value) if kind == "xlsx" else _FORMULA.match(value))


def _cell(row: dict[str, Any], key: str, is_json: bool, kind: str) -> str | None:
    if key not in row:
        return None
    if not is_json:
        return str(row[key])
    text = msgspec.json.encode(row[key]).decode()
    return _NOT_XML.sub(_escaped, text) if kind == "xlsx" else text


def _escaped(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0][0]):04x}{match[0][1:]}"


def _write_separated(kind: str) -> Callable[[list[str], Iterable[Sequence[str | None]]], bytes]:
    def write(header: list[str], rows: Iterable[Sequence[str | None]]) -> bytes:
        lines: list[str] = []
        # Before Python 3.13, the writer quotes a cell with a carriage return only if the line terminator has one.
        file = SimpleNamespace(write=lambda line: lines.append(line.removesuffix("\r\n")))
        writer = csv.writer(file, delimiter=_SEPARATORS[kind], lineterminator="\r\n")
        writer.writerow(header)
        writer.writerows(rows)
        return "\n".join([*lines, ""]).encode()

    return write


def _write_xlsx(header: list[str], rows: Iterable[Sequence[str | None]]) -> bytes:
    import xlsxwriter

    content = io.BytesIO()
    workbook = xlsxwriter.Workbook(content, {"in_memory": True})
    workbook.set_properties({"created": _CREATED})
    sheet = workbook.add_worksheet("lines")
    text = workbook.add_format({"num_format": "@"})  # cells that somebody adds or edits stay text, too
    sheet.set_column(0, len(header) - 1, 24, text)
    sheet.freeze_panes(1, 0)
    for number, row in enumerate((header, *rows)):
        if number >= _MOST_XLSX_ROWS:
            raise UsageError(f"the table has over {_MOST_XLSX_ROWS} rows, more than XLSX has, expected another format")
        for column, cell in enumerate(row):
            if cell is not None and len(cell.encode("utf-16-le")) // 2 > _LONGEST_XLSX_CELL:
                raise UsageError(
                    f"{header[column]} on line {number} has {len(cell)} characters, more than a cell of XLSX, "
                    f"expected at most {_LONGEST_XLSX_CELL}, or another format"
                )
            if cell is not None:
                sheet.write_string(number, column, cell, text)
    workbook.close()
    return content.getvalue()


def _write_parquet(header: list[str], rows: Iterable[Sequence[str | None]]) -> bytes:
    import pyarrow
    import pyarrow.parquet

    arrays = []
    for column in zip(*rows, strict=True):
        builder = pyarrow.lib.StringBuilder()  # pyarrow.array would import pandas
        builder.append_values(column)
        arrays.append(builder.finish())
    content = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.Table.from_arrays(arrays, names=header), content)
    return content.getvalue()


_WRITERS: dict[str, Callable[[list[str], Iterable[Sequence[str | None]]], bytes]] = {
    "csv": _write_separated("csv"),
    "tsv": _write_separated("tsv"),
    "xlsx": _write_xlsx,
    "parquet": _write_parquet,
}
