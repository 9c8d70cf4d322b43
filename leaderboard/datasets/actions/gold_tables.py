"""Gold as a table, such as CSV or a spreadsheet.

An uploaded table is converted to JSON Lines before it is stored, and curators can download stored gold as a table. The
sandbox reads and writes the tables, since a spreadsheet is a ZIP archive of XML.
"""

from __future__ import annotations

from dataclasses import dataclass
from tempfile import TemporaryFile

from django.conf import settings
from django.core.files import File

from evaluator.jsonl.decompress import is_packed
from evaluator.jsonl.tables import table_format
from leaderboard.core.refusal import Code, Refused
from leaderboard.evaluation import sandbox_client
from leaderboard.models import GoldVersion, Reason, Split, User
from leaderboard.submissions.actions import refused_uploads, validation

COMPRESSED = ("xlsx", "parquet")
"""Formats of tables that are compressed without a name that says so."""
_FAILURE = "The gold could not be converted"


@dataclass(frozen=True)
class Uploaded:
    """Gold that was uploaded, as JSON Lines.

    file: the gold. name: the name of the file as uploaded, for messages. warnings: about the table that was converted,
    with its rows; None if the gold was no table.
    """

    file: File[bytes]
    name: str
    warnings: list[str] | None = None


def is_large(file: File[bytes]) -> bool:
    """Return whether a gold file is checked in the background (`gold_uploads`), as predictions of its size are."""
    name = file.name or ""
    return validation.is_large(file.size or 0, packed=is_packed(name) or table_format(name) in COMPRESSED)


def as_json_lines(*, split: Split, file: File[bytes], by: User) -> Uploaded:
    """Return uploaded gold as JSON Lines: a table is converted in the sandbox, any other file is returned unchanged.

    The suffix of the file's name determines whether it is a table. by: the user, whose refused files may take a limited
    processor time. Raises Refused: INVALID_GOLD with the invalid rows, SANDBOX_UNAVAILABLE, and THROTTLED as
    `refused_uploads.check` does.
    """
    name = (file.name or "gold.jsonl").rpartition("/")[2][-255:]
    refused_uploads.check(by=by)
    if not table_format(name):
        return Uploaded(file, name)
    assert file.file is not None, "an uploaded file is open"
    seconds = settings.SCORE_SECONDS if is_large(file) else settings.VALIDATE_SECONDS
    try:
        answer = sandbox_client.read_table.within(seconds)(
            {"gold": file.file}, task=split.dataset.task, gold_name=name, options=split.options
        )
    except sandbox_client.SandboxError as error:
        raise sandbox_client.unavailable(_FAILURE, error) from error
    if not answer.ok:
        reason = answer.reason or Reason.BAD_GOLD
        refused_uploads.record("gold.refused", split, by=by, reason=reason, cpu_seconds=answer.cpu_seconds)
        raise _refused(answer, "The table", seconds)
    lines = File(TemporaryFile(), name=f"{name.rpartition('.')[0]}.jsonl")  # noqa: SIM115 - closed with its last use
    lines.write(answer.attachment)
    lines.seek(0)
    return Uploaded(lines, name, answer.report["warnings"])


def table_of(gold: GoldVersion, kind: str) -> bytes:
    """Return the content of a table file with a gold version. kind: one of `tables.FORMATS`, such as "csv".

    Raises Refused: INVALID_GOLD for gold that the format cannot hold, SANDBOX_UNAVAILABLE.
    """
    try:
        answer = sandbox_client.write_table({"gold": gold}, gold_name=str(gold.file.name), format=kind)
    except sandbox_client.SandboxError as error:
        raise sandbox_client.unavailable(_FAILURE, error) from error
    if not answer.ok:
        raise _refused(answer, "The gold", settings.SCORE_SECONDS)
    return answer.attachment


def _refused(answer: sandbox_client.Answer, subject: str, seconds: float) -> Refused:
    if answer.reason:
        limits = sandbox_client.limits_in_words(seconds)
        return Refused(Code.INVALID_GOLD, f"{_FAILURE} within the limits for one file: {limits}.")
    problems, more = answer.report["problems"], answer.report.get("more", 0)
    if answer.report["fault"] == "usage":
        return Refused(Code.INVALID_GOLD, f"{_FAILURE}: {'; '.join(problem['text'] for problem in problems)}.")
    count = len(problems) + more
    text = f"{subject} has {count} problem{'s' if count != 1 else ''}. Nothing was stored. Row 1 is the header."
    return Refused(Code.INVALID_GOLD, text, problems, more)
