"""Curators' tables (CSV, TSV, XLSX, Parquet), read as JSON Lines and written from them.

One row is one line, and one column is one key of the line's object. A cell is text, unless the column's name ends in
`:json`: then it is JSON, such as a number, a list or an object. An empty cell is a key that the line lacks. No types
are guessed: `007`, `1e5`, `NA` and `TRUE` stay the strings that they are. Rows are numbered as a spreadsheet shows
them: the header is row 1.

The libraries are those behind pandas' readers. pandas itself would fill up short rows and guess types
(docs/adr/0031-tables-are-read-strictly.md).
"""

from __future__ import annotations

import csv
import datetime
import importlib
import io
import itertools
import math
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any, BinaryIO

import msgspec

from evaluator.errors import TABLE_NAME, FileError, GoldError, ProblemList, UsageError, shown
from evaluator.jsonl.decompress import ReadLimits, chunks
from evaluator.jsonl.other_formats import HEAD, refuse_other_than_table
from evaluator.jsonl.separated_values import (
    JSON_SUFFIX,
    LINE_BREAK,
    SEPARATORS,
    SPACE_BEFORE_MARK,
    read_separated,
)

FORMATS = ("csv", "tsv", "xlsx", "parquet")
FIRST_ROW = 2
"""Number of the first row below the header."""
_VALUE_BYTES = 8  # of memory that a value takes at least, nulls included
_MOST_COLUMNS = 1000
_MOST_ROWS_OF_TITLE = 5
_LONGEST_XLSX_CELL = 32_767
_MOST_XLSX_ROWS, _MOST_XLSX_COLUMNS = 1_048_576, 16_384
_MOST_XLSX_ELEMENTS = 8 * _MOST_XLSX_COLUMNS
"""Elements between the ends of two rows; a cell has up to three, and more for each font in its text."""
_LARGE_PARTS = ("xl/worksheets/", "xl/sharedstrings")
_LARGEST_PART = 4 << 20
"""Bytes of a part of a workbook that has no cells, such as its formats."""
_FIRST_INEXACT = 10**15
"""Excel has 15 digits: longer numbers have lost their last ones."""
_SHOWN_AS_DIGITS = (0, 1, 49)
"""Number formats: General, 0 and text."""
_PARQUET_BATCH = 100
"""Rows of a Parquet file in memory at a time: by a dictionary, each of them may be as long as the whole file."""
_CREATED = datetime.datetime(2000, 1, 1)
_FORMULA = re.compile(r"[=+\-@\t\r]")
_NOT_XML = re.compile(r"[\x00-\x08\x0b-\x1f\ufffe\uffff]|x[0-9A-Fa-f]{4}_")
"""Characters that XML does not have, and what Excel writes for them between two underscores."""
_ESCAPED_CONTROL = re.compile(r"_x00([01][0-9A-Fa-f])_")
_BOOLEANS = ("TRUE", "FALSE", "True", "False")
"""Booleans as spreadsheets and pandas write them, besides those of JSON."""
_KINDS = {"n": "a number", "d": "a date", "b": "a Boolean", "f": "a formula", "e": "an error"}
_DECODER = msgspec.json.Decoder()

Cells = Sequence[Any]
"""Cells of a row: text, None if empty, or a typed value of XLSX or Parquet."""


class _Typed:
    """A cell that is not text.

    value: the cell's JSON value, None if JSON cannot hold it. kind: its type, and where known its value, in words.
    text: the value as text for a column of texts; None if it is not certain how the text would be written.
    """

    __slots__ = ("kind", "text", "value")

    def __init__(
        self, value: int | float | bool | list[Any] | dict[str, Any] | None, kind: str, text: str | None = None
    ) -> None:
        self.value, self.kind, self.text = value, kind, text


def table_format(name: str) -> str:
    """Return `csv`, `tsv`, `xlsx` or `parquet` if the file's name ends in it, in upper or lower case, else an empty
    string.

    CSV and TSV may be compressed, and their names then end in .gz, too.
    """
    match = TABLE_NAME.search(name)
    return match[1].lower() if match else ""


def first_line(problems: ProblemList) -> int:
    """Return the number of the first line of data of the file `problems.file`.

    It is 2 in a table, whose first row is the header, else 1.
    """
    return FIRST_ROW if _is_table(problems) else 1


def line_chunks(stream: BinaryIO, limits: ReadLimits, problems: ProblemList) -> Iterator[bytes]:
    """Yield the file as JSON Lines in chunks: decompressed, or converted if it is a curator's table.

    Only gold can be a table: other files are not converted. Raises `problems.error` for a file that cannot be read.
    """
    if not _is_table(problems):
        yield from chunks(stream, limits, problems)
        return
    yield from _lines(stream, table_format(problems.file), limits, problems)


def lines_of(stream: BinaryIO, name: str, error: type[FileError] = GoldError) -> list[bytes]:
    """Return the lines of a file that has been validated, without their ends; a curator's table is converted.

    stream: the open file, at its beginning. name: its name. error: the exception type for a file that cannot be used.
    """
    problems = ProblemList(name, error)
    body = b"".join(line_chunks(stream, ReadLimits(), problems))
    problems.raise_if_any()
    return body.splitlines()


def _is_table(problems: ProblemList) -> bool:
    return bool(table_format(problems.file)) and issubclass(problems.error, GoldError)


def _lines(stream: BinaryIO, kind: str, limits: ReadLimits, problems: ProblemList) -> Iterator[bytes]:
    """Yield a line for each row, which is `{}` for a row that has been reported: `problems.reported` has its number."""
    content = b"".join(chunks(stream, limits, problems))
    if not content:
        problems.stop(None, "the file is empty", "0 bytes", "a table with a header")
    refuse_other_than_table(content[:HEAD], kind, problems)
    rows = _READERS[kind](content, limits, problems)
    header, rows = _header(rows, problems)
    n_bytes = n_blank = 0
    numbers: dict[str, list[int]] = {}  # key of a column of texts: [first row with a number, number of such rows]
    for number, cells in enumerate(rows, 2):
        if number - 1 > limits.lines:
            problems.stop(None, "too many rows", f"over {limits.lines} rows", f"at most {limits.lines} rows")
        if cells is not None and all(cell is None or cell == "" for cell in cells):
            n_blank += 1  # spreadsheets end in blank rows
            continue
        for blank in range(number - n_blank, number):
            problems.add(blank, "blank row", "no cells", "one line per row, without blank rows between them")
            yield _reported(blank, problems)
        n_blank = 0
        line = _line(header, cells, number, problems, numbers) if cells is not None else _reported(number, problems)
        n_bytes += len(line)
        if n_bytes > limits.file_bytes:
            size = f"{limits.file_bytes} bytes"
            problems.stop(number, "the table is too large", f"over {size} as JSON Lines", f"at most {size}")
        yield line
    if not n_bytes:
        problems.stop(None, "the table has no rows", "only a header", "one row per line")
    problems.notes += [_note_on_numbers(key, row, count, problems.file) for key, (row, count) in numbers.items()]


def _note_on_numbers(key: str, row: int, count: int, file: str) -> str:
    numbers, are, they = ("number", "is", "it") if count == 1 else ("numbers", "are", "they")
    first = f"in row {row}" if count == 1 else f"first in row {row}"
    return (
        f"{file}: {count} {numbers} in column {shown(key)}, {first}, {are} read as text; zeros that {they} began "
        "with are lost: format the column as text before you type"
    )


def _reported(number: int, problems: ProblemList) -> bytes:
    problems.reported.add(number)
    return b"{}\n"


def _header(
    rows: Iterator[Cells | None], problems: ProblemList
) -> tuple[list[tuple[str, bool]], Iterator[Cells | None]]:
    """Return (key, True if the column's cells are JSON) of each column, and the rows below the header.

    Raises the file's error for an invalid header.
    """
    cells = next(rows, ()) or ()
    names = [cell if isinstance(cell, str) else cell.text or "" if isinstance(cell, _Typed) else "" for cell in cells]
    while names and not names[-1] and cells[len(names) - 1] in (None, ""):
        names.pop()
    if len(names) > _MOST_COLUMNS:
        problems.stop(1, "too many columns", str(len(names)), f"at most {_MOST_COLUMNS}")
    rows = _checked_below_title(names, rows, problems)
    if not names or not all(names):
        column = names.index("") + 1 if names else 1
        problems.stop(1, f"column {column} has no name", "no text", "a key in each column")
    keys = [(name.removesuffix(JSON_SUFFIX), name.endswith(JSON_SUFFIX)) for name in names]
    seen: set[str] = set()
    for key, _ in keys:
        if key in seen:
            problems.stop(1, "duplicate column", shown(key), "each key once")
        seen.add(key)
    return keys, rows


def _checked_below_title(
    names: list[str], rows: Iterator[Cells | None], problems: ProblemList
) -> Iterator[Cells | None]:
    """Return the rows below row 1, unless that is a title, a comment or `sep=,`, which then is the file's problem.

    names: the cells of row 1.
    """
    named = [name for name in names if name]
    if len(named) > 1 and not named[0].startswith(("#", "sep=")):
        return rows
    first = list(itertools.islice(rows, _MOST_ROWS_OF_TITLE))
    widest = max((sum(cell not in (None, "") for cell in cells) for cells in first if cells is not None), default=0)
    if widest > len(named) or (named and named[0].startswith("sep=")):
        found = shown(named[0]) if named else "a blank row"
        problems.stop(1, "the first row is not the header", found, "the keys in row 1, and no rows above them")
    return itertools.chain(first, rows)


def _line(
    header: list[tuple[str, bool]], cells: Cells, number: int, problems: ProblemList, numbers: dict[str, list[int]]
) -> bytes:
    """Return a row as JSON. numbers: as in `_lines`; the row's numbers in columns of texts are counted."""
    if any(cell not in (None, "") for cell in cells[len(header) :]):
        problems.add(number, "too many cells", str(len(cells)), f"{len(header)}, as in the header")
        return _reported(number, problems)
    members = []
    is_valid = True
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
            is_valid = False
            continue
        if isinstance(cell, _Typed) and not is_json:
            numbers.setdefault(key, [number, 0])[1] += 1
        members.append(msgspec.json.encode(key) + b": " + value)
    return b"{" + b", ".join(members) + b"}\n" if is_valid else _reported(number, problems)


def _value(cell: Any, is_json: bool) -> bytes:
    """Return a cell as JSON.

    is_json: True if the cells of the column are JSON, False if they are text. Raises ValueError if the cell does not
    fit its column; the error's text says what was found.
    """
    if isinstance(cell, _Typed):
        if not is_json and cell.text is not None:
            return msgspec.json.encode(cell.text)
        if not is_json or cell.value is None:
            raise ValueError(cell.kind)
        return msgspec.json.encode(cell.value)
    if not is_json:
        return msgspec.json.encode(cell)
    if cell in _BOOLEANS:
        return str(cell).lower().encode()
    try:
        _DECODER.decode(cell)
    except (msgspec.MsgspecError, RecursionError):
        raise ValueError(shown(cell)) from None
    # Outside of strings, a line break is white space; strings have none.
    return str(cell).encode().replace(b"\r", b" ").replace(b"\n", b" ")


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
            members = archive.infolist()
        _check_unpacked("workbook", sum(member.file_size for member in members), limits, problems)
        for member in members:
            if member.file_size > _LARGEST_PART and not member.filename.lower().startswith(_LARGE_PARTS):
                found = f"{member.file_size} bytes in {shown(member.filename)}"
                problems.stop(None, "the workbook has too many formats", found, f"at most {_LARGEST_PART} bytes")
        workbook = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=False, keep_links=False)
        sheets = workbook.worksheets
        if len(sheets) != 1:
            names = ", ".join(shown(sheet.title) for sheet in sheets[:5])
            problems.stop(None, "wrong number of sheets", f"{len(sheets)} ({names})", "one sheet")
        yield from _sheet_rows(sheets[0], limits, problems)
    except GoldError:
        raise
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001 - openpyxl raises whatever a malformed part of the file causes
        problems.stop(None, "not a readable XLSX file", type(error).__name__, "a workbook as Excel saves it")


def _sheet_rows(sheet: Any, limits: ReadLimits, problems: ProblemList) -> Iterator[Cells]:
    """Yield the cells of the rows of a sheet, with empty ones in between where the sheet has none.

    The sheet's own iterator would yield all rows before the first one that the file names, whatever its number is, and
    fill up each to its last column; and it would leave out rows and cells that are not in order. Nothing below the rows
    is parsed: a sheet may list a million merged cells there.
    """
    reader = _library("openpyxl.worksheet._reader", problems)
    most_rows = min(_MOST_XLSX_ROWS, limits.lines + 1)
    book = sheet.parent
    row = n_elements = 0
    data: Any = None  # the parent of the rows
    with book._archive.open(sheet._worksheet_path) as source:
        parser = reader.WorkSheetParser(
            source,
            sheet._shared_strings,
            epoch=book.epoch,
            date_formats=book._date_formats,
            timedelta_formats=book._timedelta_formats,
        )
        parser.parse_formula = lambda _: "="  # formulas are refused; a shared one would be rewritten for each cell
        for event, element in reader.iterparse(source, ("start", "end")):
            if event == "start":
                n_elements += 1
                data = element if element.tag == reader.DATA_TAG else data
                if n_elements > _MOST_XLSX_ELEMENTS:
                    problems.stop(row + 1, "too many cells", f"over {_MOST_XLSX_COLUMNS}", f"at most {_MOST_COLUMNS}")
                continue
            if element.tag == reader.DATA_TAG:
                return
            if element.tag != reader.ROW_TAG:
                continue
            n_elements = 0
            number, cells = parser.parse_row(element)
            if data is not None:
                data.clear()
            parser.row_dimensions.clear()
            values = _values_by_column(cells, number, book, problems)
            if not values:
                continue
            if number > most_rows:
                problems.stop(None, "too many rows", f"a cell in row {shown(number)}", f"at most {most_rows} rows")
            if number <= row:
                problems.stop(number, "not a readable XLSX file", "rows that are not in order", "rows in order")
            yield from itertools.repeat((), number - row - 1)
            row = number
            last = max(values)
            if last > _MOST_COLUMNS:
                problems.stop(row, "too many columns", f"a cell in column {last}", f"at most {_MOST_COLUMNS}")
            yield [values.get(column) for column in range(1, last + 1)]


def _values_by_column(
    cells: Iterable[dict[str, Any]], row: int, book: Any, problems: ProblemList
) -> dict[int, str | _Typed]:
    """Return column, from 1 -> value of each cell of a row that is not empty."""
    values: dict[int, str | _Typed] = {}
    for cell in cells:
        value = _xlsx_cell(cell, book)
        if value is None or value == "":
            continue
        if cell["row"] != row or cell["column"] in values:
            problems.stop(row, "not a readable XLSX file", "a cell in the wrong place", "a workbook as Excel saves it")
        values[cell["column"]] = value
    return values


def _xlsx_cell(cell: dict[str, Any], book: Any) -> str | _Typed | None:
    """Return a cell's value: text, None if it is empty, or else a typed value.

    A whole number that the sheet shows as it is, such as an id, is text as well.
    """
    value, kind = cell["value"], cell["data_type"]
    if value is None or (isinstance(value, str) and kind not in ("f", "e")):
        return _ESCAPED_CONTROL.sub(lambda match: chr(int(match[1], 16)), value) if value else None
    if isinstance(value, bool | int | float) and kind in ("b", "n") and math.isfinite(value):
        text = str(value) if type(value) is int and abs(value) < _FIRST_INEXACT and _is_general(cell, book) else None
        return _Typed(value, f"{_KINDS[kind]}, {shown(value)}", text)
    return _Typed(None, _KINDS.get(kind, "no text"))


def _is_general(cell: dict[str, Any], book: Any) -> bool:
    """Return True if the cell has no number format that shows a number as anything but its digits, such as 000."""
    return book._cell_styles[cell["style_id"]].numFmtId in _SHOWN_AS_DIGITS


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


_READERS: dict[str, Callable[[bytes, ReadLimits, ProblemList], Iterator[Cells | None]]] = {
    "csv": lambda content, limits, problems: read_separated(content, "csv", limits, problems),
    "tsv": lambda content, limits, problems: read_separated(content, "tsv", limits, problems),
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
    a formula to spreadsheets, and in CSV and TSV it must not have several lines, since these could be rows.
    """
    if not isinstance(value, str) or not value:
        return False
    if kind == "xlsx":
        return not _NOT_XML.search(value)
    if kind in SEPARATORS and (LINE_BREAK.search(value) or SPACE_BEFORE_MARK.match(value)):
        return False
    return not _FORMULA.match(value)


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
        writer = csv.writer(file, delimiter=SEPARATORS[kind], lineterminator="\r\n")
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
