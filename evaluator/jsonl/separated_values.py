"""Strict reader of CSV and TSV, in which a stray quotation mark never joins rows.

Both are read as RFC 4180 describes it: a cell may stand between quotation marks, and then hold separators, line breaks,
and quotation marks written twice. A quotation mark that somebody wrote for itself, as in `5.25"`, opens such a cell too
if it is a cell's first character, and what follows, up to the next one that ends a cell, would be one cell: the rows in
between would be lost. So a cell with line breaks is refused if its lines could be parts of rows
(docs/adr/0031-tables-are-read-strictly.md).
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from evaluator.errors import ProblemList, shown
from evaluator.jsonl.decompress import ReadLimits
from evaluator.jsonl.other_formats import EXPECTED_TABLE_ENCODING

SEPARATORS = {"csv": ",", "tsv": "\t"}
LINE_BREAK = re.compile("\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]")
"""Characters that end a line for some program or other; in CSV and TSV, only \\n and \\r end rows."""
SPACE_BEFORE_MARK = re.compile(' +"')
JSON_SUFFIX = ":json"
EXPECTED_MARKS = (
    'quotation marks around a cell that has any, and each of those inside written twice, as in "5.25"" drive"; '
    "or another format, such as XLSX"
)
_NAMES = {",": "commas", ";": "semicolons", "\t": "tabs"}
_PROSE = re.compile(r'(?<=[\s($€£])\d{1,3}(?:,\d{3})+(?![\d,])|,"(?=\s)')
"""Commas that separate no cells: those of `1,200`, and of `"Yes," she said`. No cell begins with a mark and a space."""
_ENDS_IN_ONLY_COMMA = re.compile('[^,]*,"?')
_ERRORS = (
    ("unexpected end of data", "a quotation mark that opens a cell and is never closed"),
    ("field larger", "a quotation mark that opens a cell, and no other within the length that a cell may have"),
    ("expected after", "text after a quotation mark that ends a cell"),
)


class _LineTooLongError(Exception):
    """A line has more characters than a JSON line may have bytes."""


class _Lines:
    """The lines of a text for `csv.reader`, which remembers the lines of the row that is read."""

    def __init__(self, text: str, longest: int) -> None:
        self._lines = io.StringIO(text, newline="")
        self._longest = longest
        self._taken: list[str] = []

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = next(self._lines)
        if len(line) > self._longest:  # it could have a cell for each of its characters
            raise _LineTooLongError
        self._taken.append(line)
        return line

    def take(self) -> list[str]:
        taken, self._taken = self._taken, []
        return taken


class _Doubtful(NamedTuple):
    """A cell whose lines could be parts of rows only in a table with spaces after its separators.

    row: its row, from 1. name: its column's. n_lines: the number of its lines.
    """

    row: int
    name: str
    n_lines: int


def read_separated(content: bytes, kind: str, limits: ReadLimits, problems: ProblemList) -> Iterator[list[str] | None]:
    """Yield the rows of CSV or TSV, and None for a row that has been reported in `problems`.

    kind: `csv` or `tsv`. Raises the file's error if the content is not UTF-8, and for a quotation mark below which rows
    cannot be told apart.
    """
    separator = SEPARATORS[kind]
    text = _decoded(content, problems)
    _check_separator(text, separator, problems)
    csv.field_size_limit(limits.line_bytes)
    lines = _Lines(text, limits.line_bytes)
    header: list[str] = []
    doubtful: list[_Doubtful] = []
    has_spaces = False  # after separators
    row = 0
    try:
        for row, cells in enumerate(csv.reader(lines, delimiter=separator, strict=True), 1):
            raw = lines.take()
            is_quoted = any('"' in line for line in raw)
            header = header or cells
            reported = False
            if is_quoted and row > 1:
                reported, doubts = _check_quoted("".join(raw), cells, header, separator, row=row, problems=problems)
                doubtful += doubts
            elif is_quoted:
                _check_header(cells, problems)
            has_spaces = has_spaces or any(cell.startswith(" ") for cell in cells[1:])
            if cells and len(cells) < len(header):
                problems.add(row, "too few cells", str(len(cells)), f"{len(header)}, as in the header")
                reported = True
            yield None if reported else cells
    except _LineTooLongError:
        most = f"{limits.line_bytes} characters"
        problems.stop(row + 1, "the row is too long", f"over {most} on a line", f"at most {most}")
    except csv.Error as error:
        found = next((words for part, words in _ERRORS if part in str(error)), str(error))
        below = len(lines.take()) - 1
        where = f", {below} line{'s' if below > 1 else ''} below" if below and "never" not in found else ""
        problems.stop(row + 1, "the row cannot be read", found + where, EXPECTED_MARKS)
    if has_spaces:
        for doubt in doubtful:
            _report(*doubt, problems)


def _decoded(content: bytes, problems: ProblemList) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        problems.stop(number, "not UTF-8", f"0x{content[error.start]:02x}", EXPECTED_TABLE_ENCODING)


def _check_separator(text: str, separator: str, problems: ProblemList) -> None:
    first = next(io.StringIO(text), "")
    others = [mark for mark in _NAMES if mark != separator and mark in first]
    if separator not in first and others and not first.startswith("sep="):
        problems.stop(1, "wrong separator", _NAMES[others[0]], "commas in .csv, tabs in .tsv")


def _check_header(cells: list[str], problems: ProblemList) -> None:
    for cell in cells:
        if LINE_BREAK.search(cell):
            _report(1, cell.partition("\n")[0], len(LINE_BREAK.split(cell)), problems)
            problems.raise_if_any()


def _check_quoted(
    raw: str, cells: list[str], header: list[str], separator: str, *, row: int, problems: ProblemList
) -> tuple[bool, list[_Doubtful]]:
    """Check the cells of a row with quotation marks; return (True if one was reported, doubtful cells).

    raw: the row as it is in the file. row: its number.
    """
    if ' "' not in raw and not LINE_BREAK.search(raw.rstrip("\r\n")):
        return False, []
    breaks = [index for index, cell in enumerate(cells) if LINE_BREAK.search(cell)]
    spaces = [index for index, cell in enumerate(cells) if SPACE_BEFORE_MARK.match(cell)]
    if not breaks and not spaces:
        return False, []
    quoted = _quoted(raw, separator)
    for index in spaces:
        if not quoted[index]:
            what = f"{_name(header, index)} is not valid"
            problems.add(row, what, "a space before a quotation mark", EXPECTED_MARKS)
            return True, []
    doubtful = []
    for index in breaks:
        # Without quotation marks, a line break other than \n and \r is a character of the text.
        if not quoted[index]:
            continue
        name, parts = _name(header, index), LINE_BREAK.split(cells[index])
        if name.endswith(JSON_SUFFIX) and _is_json(cells[index]):
            continue
        if len(cells) != len(header) or _could_be_rows(parts, index, len(header), separator, has_spaces=False):
            _report(row, name, len(parts), problems)
            return True, []
        if _could_be_rows(parts, index, len(header), separator, has_spaces=True):
            doubtful.append(_Doubtful(row, name, len(parts)))
    return False, doubtful


def _name(header: list[str], index: int) -> str:
    """Return the name of a column, or the number of a cell that is in none, for a problem's text."""
    return header[index] if index < len(header) else f"cell {index + 1}"


def _report(row: int, name: str, n_lines: int, problems: ProblemList) -> None:
    problems.add(
        row,
        f"{shown(name)[1:-1]} could be several rows",
        f"a quotation mark that opens a cell of {n_lines} lines, which look like rows",
        EXPECTED_MARKS,
    )


def _could_be_rows(parts: list[str], column: int, n_columns: int, separator: str, *, has_spaces: bool) -> bool:
    """Return True if the lines of a cell could be the end of a row, whole rows, and the beginning of a row.

    parts: the cell's lines. column: the index of its column. has_spaces: True if cells of this table may begin with a
    space. If they may not, a comma before a space is no separator; in TSV, every tab is one.
    """
    if n_columns == 1:
        return True
    if separator == "\t":
        return any("\t" in part for part in parts)
    first, *between, last = [_PROSE.sub("", part if has_spaces else part.replace(", ", "")) for part in parts]
    right = n_columns - 1 - column
    if first.count(",") >= right and last.count(",") >= column:
        return True
    if any(part.count(",") == n_columns - 1 for part in between):
        return True
    # One of the two rows may lack cells. Then the other is whole, or, where the cell is at its end, nearly so. If the
    # only comma ends the first line, it is that of a verse or a letter.
    first = "" if "," not in last and _ENDS_IN_ONLY_COMMA.fullmatch(first) else first
    if column == 0 or right == 0:
        return n_columns > 2 and (first + last).count(",") >= n_columns - 2
    return first.count(",") >= right or last.count(",") >= column


def _quoted(raw: str, separator: str) -> list[bool]:
    """Return whether each cell of a row stands between quotation marks. raw: the row, which `csv.reader` has read."""
    cell = re.compile(rf'(?:("[^"]*(?:""[^"]*)*")|[^{separator}\r\n]*)(?:{separator}|\r?\n?\Z)')
    quoted = []
    at = 0
    while True:
        match = cell.match(raw, at)
        assert match is not None, "a row that csv.reader has read is made of cells"
        quoted.append(match[1] is not None)
        at = match.end()
        if not match[0].endswith(separator):
            return quoted


def _is_json(cell: str) -> bool:
    try:
        msgspec.json.decode(cell)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return True
