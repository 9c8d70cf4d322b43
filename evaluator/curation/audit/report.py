"""The whole audit of a split, as one report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluator.curation.audit.checks import FORMAT, PARTS, Asked, Beside
from evaluator.curation.audit.duplicates.near_duplicates import THRESHOLD
from evaluator.tasks.audit.findings import Finding, Severity, gravest_first, plain
from evaluator.tasks.audit.split import Split

__all__ = ["FORMAT", "Beside", "assembled", "audit", "part"]


def audit(
    split: Split, beside: Beside, options: Mapping[str, Any], *, seed: int = 0, threshold: float = THRESHOLD
) -> tuple[dict[str, Any], list[Finding]]:
    """(report, findings); the report has the findings, too, as plain JSON values. It quotes gold: for the curator."""
    asked = Asked(split, beside, options, seed, threshold)
    told: list[dict[str, Any]] = []
    found: list[Finding] = []
    for check in PARTS.values():
        keys, more = check(asked)
        told.append(_as_part(keys, more))
        found += more
    return assembled(told), gravest_first(found)


def part(name: str, asked: Asked) -> dict[str, Any]:
    """One of PARTS by itself: {"keys": of the report, "findings": as dicts}, plain JSON values. It quotes gold."""
    return _as_part(*PARTS[name](asked))


def assembled(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The report of what each of PARTS told, given in their order."""
    report: dict[str, Any] = {}
    found: list[dict[str, Any]] = []
    for one in parts:
        report |= one["keys"]
        found += one["findings"]
    gravity = [severity.value for severity in Severity]
    found.sort(key=lambda finding: gravity.index(finding["severity"]))
    report["counts"] = {f"{name}s": sum(one["severity"] == name for one in found) for name in gravity}
    report["publishable"] = not report["counts"]["errors"]
    report["findings"] = found
    return report


def _as_part(keys: Mapping[str, Any], found: Sequence[Finding]) -> dict[str, Any]:
    return {"keys": plain(keys), "findings": [_named(plain(finding.as_dict())) for finding in found]}


def _named(finding: dict[str, Any]) -> dict[str, Any]:
    """Files by their names, without their folders."""
    where = finding["where"]
    if where["file"] is not None:
        where["file"] = Path(where["file"]).name
    return finding
