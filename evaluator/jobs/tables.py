"""Jobs that convert gold between a table, which curators edit, and JSON Lines."""

import io

from evaluator.errors import GoldError, ProblemList, UsageError
from evaluator.jobs.base import Files, Report, Request, TaskRequest
from evaluator.jsonl.decompress import ReadLimits, chunks
from evaluator.jsonl.tables import FORMATS, line_chunks, write_table


class ReadTableRequest(TaskRequest, frozen=True, kw_only=True):
    """Arguments of `read_table`. is_gold: False if the lines of the table are not checked as gold of the task."""

    job = "read_table"
    gold_name: str
    is_gold: bool = True
    limits: ReadLimits = ReadLimits()


class TableReport(Report):
    """Result of a conversion.

    n_lines: the number of gold lines, each of which is one row of the table. warnings: about a table that was read.
    """

    n_lines: int
    warnings: list[str] = []


def read_table(files: Files, request: ReadTableRequest) -> tuple[TableReport, bytes]:
    """Convert a table, usually gold, which is checked; the attachment is the table as JSON Lines.

    files: `gold`, whose format follows from its name. Problems have the table's row numbers. Raises GoldError for an
    invalid table.
    """
    task, options = request.parsed()
    warnings: list[str] = []
    if request.is_gold:
        warnings = task.read_gold(files["gold"], request.gold_name, options, request.limits).warnings
        files["gold"].seek(0)
    problems = ProblemList(request.gold_name, GoldError)
    lines = b"".join(line_chunks(files["gold"], request.limits, problems))
    problems.raise_if_any()
    return TableReport(lines.count(b"\n"), warnings), lines


class WriteTableRequest(Request, frozen=True, kw_only=True):
    """Arguments of `write_table_of_gold`. format: one of FORMATS."""

    job = "write_table"
    gold_name: str
    format: str
    limits: ReadLimits = ReadLimits()


def write_table_of_gold(files: Files, request: WriteTableRequest) -> tuple[TableReport, bytes]:
    """Convert valid gold in JSON Lines to a table, which is the attachment. files: `gold`.

    Raises UsageError for an unknown format, and for gold that the format cannot hold.
    """
    if request.format not in FORMATS:
        raise UsageError(f"format is {request.format!r}, expected one of: {', '.join(FORMATS)}")
    content = b"".join(chunks(files["gold"], request.limits, ProblemList(request.gold_name, GoldError)))
    lines = io.BytesIO(content).readlines()
    return TableReport(len(lines)), write_table(lines, request.format)
