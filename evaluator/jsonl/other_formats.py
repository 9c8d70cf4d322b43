"""Recognition of files in another format than JSON Lines, so that one sentence names the mistake and how to fix it.

Without this check every line of such a file would be reported as a separate problem.
"""

import re

from evaluator.errors import ProblemList

EXPECTED_ENCODING = 'UTF-8, which open(name, "w", encoding="utf-8") writes in Python'
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_HTML = re.compile(rb"\s*<(?:!doctype|html|head|body|\?xml)\b", re.IGNORECASE)
_ARRAY = re.compile(rb"\s*\[\s*(?:\{|\Z)")
_INDENTED = re.compile(rb'\s*\{[ \t]*\r?\n\s*"')
_WIDE = re.compile(rb"(?:\0{1,3}[^\0]){4}|(?:[^\0]\0{1,3}){4}")
_SEPARATORS = {b"\t": "TSV", b",": "CSV", b";": "CSV"}
_PANDAS = ', as written by df.to_json(name, orient="records", lines=True) in pandas'


def refuse_other_formats(head: bytes, problems: ProblemList) -> None:
    """Raise the error type of `problems`, with one problem, if a file's first bytes show another format than JSON
    Lines.

    head: the file's first bytes, with its first two lines unless these are long.
    """
    first, _, rest = head.partition(b"\n")
    second = rest.partition(b"\n")[0]
    if first.startswith(b"{") and not second.startswith((b" ", b"\t")) and first[1:2] != b"\0":
        return
    if head.startswith(_ZIP):
        problems.stop(None, "the file is a ZIP archive", "", "the unpacked .jsonl file, or one that gzip has packed")
    if _HTML.match(head):
        problems.stop(None, "the file is an HTML or XML page", "", "the file itself, not a page that links to it")
    if _WIDE.match(head):
        problems.stop(1, "wrong encoding", "UTF-16 or UTF-32", EXPECTED_ENCODING)
    if _ARRAY.match(head) and not (first.rstrip().endswith(b"]") and second.startswith(b"{")):
        problems.stop(None, "the file is one JSON array", "", "one JSON object per line, as written by jq -c '.[]'")
    if _INDENTED.match(head):
        problems.stop(
            None, "the JSON is indented over several lines", "", "one JSON object per line, as written by jq -c ."
        )
    if kind := _table_format(first, second):
        problems.stop(None, f"the file is {kind}", "", f"one JSON object per line{_PANDAS}")


def _table_format(first: bytes, second: bytes) -> str:
    """Return `CSV` or `TSV` if a file's first two lines are rows of such a table, else an empty text.

    They are rows of a table if both have the same number of separators, at least one, and neither begins with `{` or
    `[`.
    """
    if b"\0" in first or any(line.lstrip().startswith((b"{", b"[")) for line in (first, second)):
        return ""
    kinds = (kind for mark, kind in _SEPARATORS.items() if 0 < first.count(mark) == second.count(mark))
    return next(kinds, "")
