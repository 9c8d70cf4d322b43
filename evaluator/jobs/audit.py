"""Sandbox job that runs one part of a split's audit; a complete audit is one run of the job per part."""

from collections.abc import Mapping
from typing import Any, BinaryIO, Literal

import msgspec

from evaluator.curation.audit.audited_split import AuditedSplit
from evaluator.curation.audit.checks import CHECKS, AuditContext, AuditRequest
from evaluator.curation.audit.duplicates.similar_texts import THRESHOLD
from evaluator.curation.audit.public_inputs import read_public_inputs
from evaluator.curation.audit.report import part
from evaluator.errors import UsageError
from evaluator.jobs.base import SEED, Files, Report, TaskRequest
from evaluator.tasks.base import Task

NAMES = tuple(CHECKS)
"""Names of the audit's parts, in the order in which the report is assembled."""


class AuditPartRequest(TaskRequest, frozen=True, kw_only=True):
    """Arguments of `audit_part`.

    part: the name of a part, one of NAMES; gold_name, inputs_name: the names of the files `gold` and `inputs`;
    inputs_name is empty if inputs are not public; train_names: the names of the training files "0", "1"... in this
    order.
    """

    job = "audit_part"
    part: str
    gold_name: str
    inputs_name: str = ""
    train_names: list[str] = []
    seed: int = SEED


class FindingRow(msgspec.Struct, forbid_unknown_fields=True):
    """One finding of the audit: serialized `evaluator.tasks.audit.findings.Finding`."""

    severity: Literal["error", "warning", "note"]
    code: str
    where: dict[str, str | int | None]
    found: str
    means: str
    do: str
    numbers: dict[str, Any]


class AuditPart(msgspec.Struct, forbid_unknown_fields=True):
    """One part of the audit's report.

    keys: the part's entries of the report, which is a JSON object: key -> value. findings: the findings of the part.
    """

    keys: dict[str, Any]
    findings: list[FindingRow]


class AuditPartReport(Report):
    part: AuditPart


def audit_part(files: Files, request: AuditPartRequest) -> tuple[AuditPartReport, bytes]:
    """Run one part of a split's audit. The report quotes gold. Raises UsageError for an unknown part.

    files: `gold`, `inputs` if the inputs are public, and the gold of public training splits as "0", "1"... in the order
    of `train_names`. All are in the task's own format. The attachment is empty.
    """
    if request.part not in CHECKS:
        raise UsageError(f"part is {request.part!r}, expected one of {', '.join(CHECKS)}")
    task, options = request.parsed()
    split = _split(files["gold"], request.gold_name, task, options)
    seen = read_public_inputs(split, files["inputs"], request.inputs_name) if "inputs" in files else None
    trains = [_split(files[str(index)], name, task, options) for index, name in enumerate(request.train_names)]
    context = AuditRequest(split, AuditContext(seen, trains), options, request.seed, THRESHOLD)
    return AuditPartReport(msgspec.convert(part(request.part, context), AuditPart)), b""


def _split(stream: BinaryIO, name: str, task: Task[Any, Any, Any], options: Mapping[str, Any]) -> AuditedSplit:
    # The server stores gold in the task's format, so published layouts are not detected.
    return AuditedSplit.of_task(task, name, task.read_gold(stream, name, options))
