"""Recognition of files in another format than the one that is read, so that one sentence says what to do.

Without this check, a file would be refused line by line, or as damaged. All readers of files that users name call it:
of JSON Lines, of tables, and of what is compressed with gzip.
"""

import json
import re

from evaluator.errors import GoldError, ProblemList

EXPECTED_ENCODING = 'UTF-8, which open(name, "w", encoding="utf-8") writes in Python'
EXPECTED_TABLE_ENCODING = "UTF-8, or XLSX: Excel writes UTF-8 as CSV UTF-8, but with numbers as it shows them"
HEAD = 1 << 16
"""Number of bytes of a file that are examined."""
_JSON_LINES = "one JSON object per line"
_PYTHON = ', as file.write(json.dumps(row) + "\\n") writes in Python for each row'
_PANDAS = _PYTHON + ' of pandas.read_csv(name, sep="{}", float_precision="round_trip").to_dict("records")'
"""Advice that keeps every digit: by default, `read_csv` gets the last one wrong, and `to_json` writes 15 decimals."""
_UNPACKED = "the unpacked file, or one that gzip has packed, with a name that ends in .gz"
_MEMBER = "the file in it, unpacked, or that file packed by gzip, with a name that ends in .gz"
_TEXT = "the file as text"
_ZIP = "a ZIP archive"
_SIGNATURES: tuple[tuple[bytes, str, str], ...] = (
    (rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis\.opendocument", "an OpenDocument spreadsheet", "sheet"),
    (rb"PK\x03\x04.{26}[^\0-\x1f]{1,200}\.npy", "an archive of NumPy arrays", "python"),
    (rb"PK\x03\x04.{26,65000}?(?:word|ppt)/", "a document or slides of Office", "text"),
    (rb"PK\x03\x04.{26,65000}?(?:\[Content_Types\]\.xml|xl/w)", "an XLSX workbook", "xlsx"),
    (rb"PK(?:\x03\x04|\x05\x06|\x07\x08)", _ZIP, "archive"),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an Excel workbook with a password, or of the format .xls", "sheet"),
    (rb"PAR1", "Parquet", "parquet"),
    (rb"ARROW1|FEA1", "Arrow or Feather", "python"),
    (rb"Obj\x01", "Avro", "python"),
    (rb"\x89HDF\r\n", "HDF5", "python"),
    (rb"\x93NUMPY", "an array of NumPy", "python"),
    (rb"\x80[\x02-\x05]|[(](?:lp|dp)[0-9]+\n", "a pickle of Python", "python"),
    (rb"SQLite format 3\0", "an SQLite database", "python"),
    (rb"\xfd7zXZ\0", "packed by xz", "packed"),
    (rb"BZh[1-9](?:1AY&SY|\x17rE)", "packed by bzip2", "packed"),
    (rb"\x28\xb5\x2f\xfd", "packed by Zstandard", "packed"),
    (rb"\x04\x22\x4d\x18", "packed by LZ4", "packed"),
    (rb"\x1f\x9d", "packed by compress", "packed"),
    (rb"LZIP\x01", "packed by lzip", "packed"),
    (rb"\x5d\0\0[\0-\xff]{2}(?:\0{3}|\xff{8})", "packed by LZMA", "packed"),
    (rb"x[\x01\x5e\x9c\xda][^\x20-\x7e]", "packed by zlib", "packed"),
    (rb"7z\xbc\xaf\x27\x1c", "a 7z archive", "archive"),
    (rb"Rar!\x1a\x07", "an RAR archive", "archive"),
    (rb".{257}ustar", "a tar archive", "archive"),
    (rb"%PDF-", "a PDF", "text"),
    (rb"\x89PNG\r\n|\xff\xd8\xff|GIF8", "a picture", "text"),
    (rb"\x7fELF|MZ\x90\0", "a program", "text"),
    (rb"\{\\rtf", "RTF", "text"),
    (rb"version https://git-lfs\.github\.com/spec/", "a pointer of Git LFS", "lfs"),
)
_COMPILED = [(re.compile(pattern, re.DOTALL), noun, kind) for pattern, noun, kind in _SIGNATURES]
_EXPECTED = {
    "archive": _MEMBER,
    "packed": _UNPACKED,
    "lfs": "the file itself, which git lfs pull downloads",
    "text": _TEXT,
}
_HTML = re.compile(rb"\s*<(?:(?:!doctype|html|head|body|\?xml)\b|!--)", re.IGNORECASE)
_ARRAY = re.compile(rb"\s*\[\s*(?:\{|\Z)")
_INDENTED = re.compile(rb'\s*\{[ \t]*\r?\n\s*"')
_WIDE = re.compile(rb"\xff\xfe|\xfe\xff|\0\0\xfe\xff|(?:\0{1,3}[^\0]){4}|(?:[^\0]\0{1,3}){4}")
_YAML = re.compile(rb"---\s*\n|%YAML |(?:- )?[A-Za-z_][\w ]*:(?: [^\n]*)?\r?\n[ -]*[A-Za-z_][\w ]*:[ \r\n]")
_JSON_TEXT_SEQUENCE = re.compile(rb"\x1e\s*[\[{]")
_SEVERAL = re.compile(rb'\} ?\{ ?"')
_NOT_TEXT = re.compile(rb"[\x80-\xc1\xf5-\xff]|[^\n]*[\0-\x08\x0e-\x1a\x1c-\x1f]")
"""The beginning of no text in UTF-8, or a control character in the first line."""
_TABLES = {b"\t": "TSV", b",": "CSV", b";": "CSV"}


def named_format(head: bytes) -> tuple[str, str] | None:
    """Return (a format's name with an article, its kind) if a file's first bytes are those of another format.

    Formats of text are not recognised. kind: `xlsx` and `parquet` are tables that curators may use, `sheet` other
    spreadsheets, `python` what a program has to read, `packed` other compression than gzip, `archive` files that hold
    files, `lfs`, and `text` for the rest.
    """
    return next(((noun, kind) for pattern, noun, kind in _COMPILED if pattern.match(head)), None)


def refuse_packed(head: bytes, problems: ProblemList) -> None:
    """Raise the error type of `problems` if a file's first bytes are those of a format that never has rows, such as an
    archive.
    """
    found = named_format(head)
    if found is not None and found[1] in _EXPECTED:
        problems.stop(None, f"the file is {found[0]}", "", _EXPECTED[found[1]])


def refuse_binary(
    head: bytes, problems: ProblemList, lines: str = f"{_JSON_LINES}{_PYTHON}", encoding: str = EXPECTED_ENCODING
) -> None:
    """Raise the error type of `problems` if a file's first bytes are those of a format that is not text.

    lines: what is expected instead of a file of rows. encoding: what is expected instead of UTF-16.
    """
    if _WIDE.match(head):
        problems.stop(1, "wrong encoding", "UTF-16 or UTF-32", encoding)
    found = named_format(head)
    if found is None:
        return
    noun, kind = found
    expected = _EXPECTED.get(kind, lines)
    if issubclass(problems.error, GoldError):
        if kind in ("xlsx", "parquet"):
            expected = f"a name that ends in .{kind}"
        elif kind == "sheet":
            expected = "a workbook saved as .xlsx, without a password"
    problems.stop(None, f"the file is {noun}", "", expected)


def refuse_other_formats(head: bytes, problems: ProblemList) -> None:
    """Raise the error type of `problems`, with one problem, if a file's first bytes show another format than JSON
    Lines.

    head: the file's first bytes, with its first two lines unless these are long.
    """
    first, _, rest = head.partition(b"\n")
    second = rest.partition(b"\n")[0]
    if first.startswith(b"{") and not second.startswith((b" ", b"\t")) and first[1:2] not in (b"\0", b"\\"):
        if _SEVERAL.search(first) and _has_several_objects(first):
            problems.stop(None, "several JSON objects are on one line", "", f"{_JSON_LINES}{_PYTHON}")
        return
    refuse_binary(head, problems)
    if _HTML.match(head):
        expected = "the file itself, not a page that links to it or asks to log in"
        problems.stop(None, "the file is an HTML or XML page", "", expected)
    if _JSON_TEXT_SEQUENCE.match(head):
        expected = f"{_JSON_LINES}, without the byte 0x1E, which tr -d '\\036' removes"
        problems.stop(None, "the file is a JSON text sequence (RFC 7464)", "", expected)
    if _NOT_TEXT.match(head) and b'{"' not in head:
        problems.stop(None, "the file is not text", "", f"{_JSON_LINES}{_PYTHON}")
    if _ARRAY.match(head) and not (first.rstrip().endswith(b"]") and second.startswith(b"{")):
        problems.stop(None, "the file is one JSON array", "", f"{_JSON_LINES}{_PYTHON} of json.load(array)")
    if _INDENTED.match(head):
        problems.stop(None, "the JSON is indented over several lines", "", f"{_JSON_LINES}{_PYTHON}")
    if separator := _separator(first, second):
        kind = _TABLES[separator]
        is_gold = issubclass(problems.error, GoldError) and separator != b";"
        pandas = _PANDAS.format(separator.decode().replace("\t", "\\t"))
        expected = f"a name that ends in .{kind.lower()}" if is_gold else f"{_JSON_LINES}{pandas}"
        problems.stop(None, f"the file is {kind}", "", expected)
    if _YAML.match(head):
        problems.stop(None, "the file is YAML", "", f"{_JSON_LINES}{_PYTHON}")


def refuse_other_than_table(head: bytes, kind: str, problems: ProblemList) -> None:
    """Raise the error type of `problems` if a file is not the table that its name says.

    head: the file's first bytes. kind: `csv`, `tsv`, `xlsx` or `parquet`.
    """
    found = named_format(head)
    if kind in ("xlsx", "parquet"):
        if found is None or found[1] != kind:
            first, _, rest = head.partition(b"\n")
            separator = _separator(first, rest.partition(b"\n")[0])
            text = "JSON Lines" if head.startswith(b'{"') else _TABLES.get(separator, "")
            if found is None and text:
                suffix = "jsonl" if text == "JSON Lines" else text.lower()
                problems.stop(None, f"the file is {text}", "", f"a name that ends in .{suffix}")
            if found is None or found[0] != _ZIP:  # which a damaged workbook is, too
                refuse_binary(head, problems)
        return
    refuse_binary(head, problems, f"{kind.upper()}, XLSX, Parquet or JSON Lines", EXPECTED_TABLE_ENCODING)
    if _HTML.match(head):
        problems.stop(None, "the file is an HTML or XML page", "", "the table itself, not a page that links to it")
    if head.startswith(b'{"'):
        problems.stop(None, "the file is JSON Lines", "", "a name that ends in .jsonl")


def _has_several_objects(line: bytes) -> bool:
    """Return True if a line has two JSON objects or more, one behind the other."""
    try:
        text = line.decode(errors="replace").lstrip()
        _, end = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return False
    return text[end:].lstrip().startswith("{")


def _separator(first: bytes, second: bytes) -> bytes:
    """Return the separator if a file's first two lines are rows of CSV or TSV, else an empty text.

    They are rows of a table if both have the same number of separators, at least one, and neither begins with `{` or
    `[`.
    """
    if b"\0" in first or any(line.lstrip().startswith((b"{", b"[")) for line in (first, second)):
        return b""
    return next((mark for mark in _TABLES if 0 < first.count(mark) == second.count(mark)), b"")
