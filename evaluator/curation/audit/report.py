"""The audit report: all checks, or single ones, and the report assembled from their results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluator.curation.audit.audited_split import AuditedSplit
from evaluator.curation.audit.checks import CHECKS, FORMAT, AuditContext, AuditRequest
from evaluator.curation.audit.duplicates.similar_texts import THRESHOLD
from evaluator.tasks.audit.findings import Severity, plain

__all__ = ["FORMAT", "AuditContext", "assembled", "audit", "part"]


def audit(
    split: AuditedSplit,
    context: AuditContext,
    options: Mapping[str, Any],
    *,
    seed: int = 0,
    threshold: float = THRESHOLD,
) -> dict[str, Any]:
    """Run all checks of a split; return the report as plain JSON values, with the findings, errors first.

    The report quotes gold, so it is only for those who manage the split. options: from `Task.parse_options`. threshold:
    the Jaccard similarity from which texts are near-duplicates.
    """
    request = AuditRequest(split, context, options, seed, threshold)
    return assembled([part(name, request) for name in CHECKS])


def part(name: str, request: AuditRequest) -> dict[str, Any]:
    """Run one check of CHECKS, given by name, and return its part of the report.

    The part is {"keys": {key of the report: value}, "findings": [finding as an object, ...]}, in plain JSON values,
    which `assembled` joins into the report. Keys and findings may quote gold.
    """
    keys, findings = CHECKS[name](request)
    return {"keys": plain(keys), "findings": [_without_folders(plain(finding.as_dict())) for finding in findings]}


def assembled(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Assemble the report from the results of `part` for all CHECKS, which must be in the order of CHECKS."""
    report: dict[str, Any] = {}
    findings: list[dict[str, Any]] = []
    for result in parts:
        report |= result["keys"]
        findings += result["findings"]
    severities = [severity.value for severity in Severity]
    findings.sort(key=lambda finding: severities.index(finding["severity"]))
    report["counts"] = {f"{name}s": sum(finding["severity"] == name for finding in findings) for name in severities}
    report["publishable"] = not report["counts"]["errors"]
    report["findings"] = findings
    return report


def _without_folders(finding: dict[str, Any]) -> dict[str, Any]:
    """Return the finding, in which the path of its file is replaced by the file's name without folders."""
    where = finding["where"]
    if where["file"] is not None:
        where["file"] = Path(where["file"]).name
    return finding
