"""Gold as a table, such as CSV or a spreadsheet.

An uploaded table is converted to JSON Lines before it is stored, and curators can download stored gold as a table. The
sandbox reads and writes the tables, since a spreadsheet is a ZIP archive of XML.
"""

from __future__ import annotations

from pathlib import PurePath
from tempfile import TemporaryFile

from django.conf import settings
from django.core.files import File

from evaluator.jsonl.tables import table_format
from leaderboard.core.refusal import Code, Refused
from leaderboard.evaluation import sandbox_client
from leaderboard.models import GoldVersion, Split

_FAILURE = "The gold could not be converted"


def as_json_lines(*, split: Split, file: File[bytes]) -> File[bytes]:
    """Return uploaded gold as JSON Lines: a table is converted in the sandbox, any other file is returned unchanged.

    The suffix of the file's name determines whether it is a table. Raises Refused: INVALID_GOLD with the invalid rows,
    SANDBOX_UNAVAILABLE.
    """
    name = (file.name or "").rpartition("/")[2][-255:]
    if not table_format(name):
        return file
    assert file.file is not None, "an uploaded file is open"
    try:
        answer = sandbox_client.read_table(task=split.dataset.task, gold=file.file, name=name, options=split.options)
    except sandbox_client.SandboxError as error:
        raise sandbox_client.unavailable(_FAILURE, error) from error
    if not answer.ok:
        raise _refused(answer, "The table")
    lines = File(TemporaryFile(), name=f"{PurePath(name).stem}.jsonl")  # noqa: SIM115 - closed with its last use
    lines.write(answer.attachment)
    lines.seek(0)
    return lines


def table_of(gold: GoldVersion, kind: str) -> bytes:
    """Return the content of a table file with a gold version. kind: one of `tables.FORMATS`, such as "csv".

    Raises Refused: INVALID_GOLD for gold that the format cannot hold, SANDBOX_UNAVAILABLE.
    """
    try:
        answer = sandbox_client.write_table(gold=gold, kind=kind)
    except sandbox_client.SandboxError as error:
        raise sandbox_client.unavailable(_FAILURE, error) from error
    if not answer.ok:
        raise _refused(answer, "The gold")
    return answer.attachment


def _refused(answer: sandbox_client.Answer, subject: str) -> Refused:
    if answer.reason:
        limits = sandbox_client.limits_in_words(settings.SCORE_SECONDS)
        return Refused(Code.INVALID_GOLD, f"{_FAILURE} within the limits for one file: {limits}.")
    problems, more = answer.report["problems"], answer.report.get("more", 0)
    if answer.report["fault"] == "usage":
        return Refused(Code.INVALID_GOLD, f"{_FAILURE}: {' '.join(problem['text'] for problem in problems)}.")
    count = len(problems) + more
    text = f"{subject} has {count} problem{'s' if count != 1 else ''}. Nothing was stored. Row 1 is the header."
    return Refused(Code.INVALID_GOLD, text, problems, more)
