"""Jobs that convert gold between a table, which curators edit, and JSON Lines."""

import io

from evaluator.errors import GoldError, ProblemList, UsageError
from evaluator.jobs.base import Files, Report, Request, TaskRequest
from evaluator.jsonl.decompress import ReadLimits, chunks
from evaluator.jsonl.tables import FORMATS, line_chunks, write_table


class ReadTableRequest(TaskRequest, frozen=True, kw_only=True):
    job = "read_table"
    gold_name: str
    limits: ReadLimits = ReadLimits()


class TableReport(Report):
    """Result of a conversion. n_lines: the number of gold lines, each of which is one row of the table."""

    n_lines: int


def read_table(files: Files, request: ReadTableRequest) -> tuple[TableReport, bytes]:
    """Check gold in a table; the attachment is the gold as JSON Lines.

    files: `gold`, whose format follows from its name. Problems have the table's row numbers. Raises GoldError for an
    invalid table.
    """
    task, options = request.parsed()
    lines = b"".join(line_chunks(files["gold"], request.limits, ProblemList(request.gold_name, GoldError)))
    files["gold"].seek(0)
    gold = task.read_gold(files["gold"], request.gold_name, options, request.limits)
    return TableReport(gold.n_lines), lines


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
