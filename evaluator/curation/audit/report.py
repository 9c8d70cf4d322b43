"""The whole audit of a split, as one report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.curation.audit.annotations import Judgements, agreement
from evaluator.curation.audit.balance import balance, group_structure
from evaluator.curation.audit.duplicates import duplicates
from evaluator.curation.audit.findings import Finding, Severity, counts, gravest_first, plain
from evaluator.curation.audit.matching import matching
from evaluator.curation.audit.near import THRESHOLD
from evaluator.curation.audit.overlap import overlap
from evaluator.curation.audit.public import Public
from evaluator.curation.audit.sizes import sizes
from evaluator.curation.audit.split import Split
from evaluator.curation.audit.tells import tells
from evaluator.curation.audit.trivial import trivial
from evaluator.curation.audit.wording import wording

FORMAT = 1
"""Raised when a key of the report goes or changes its meaning; new keys do not raise it."""


@dataclass(frozen=True)
class Beside:
    """What is audited beside gold: the inputs as they will be published, training files, annotators' judgements."""

    public: Public | None = None
    trains: Sequence[Split] = ()
    judgements: Judgements | None = None
    judgements_file: str = ""


def audit(
    split: Split, beside: Beside, options: Mapping[str, Any], *, seed: int = 0, threshold: float = THRESHOLD
) -> tuple[dict[str, Any], list[Finding]]:
    """(report, findings); the report has the findings, too, as plain JSON values. It quotes gold: for the curator."""
    task = split.task
    outcomes = task.score(split.gold, task.unanswered(split.gold), options)
    found: list[Finding] = []

    def note(result: tuple[Any, Sequence[Finding]]) -> Any:
        found.extend(result[1])
        return result[0]

    report: dict[str, Any] = {
        "audit": FORMAT,
        "task": task.name,
        "task_version": task.version,
        "file": Path(split.file).name,
        "published_layout": split.published,
        "lines": len(split),
        "units": outcomes.n_units,
    }
    found += matching(split)
    slices = note(sizes(split, outcomes))
    report["primary"] = task.primary(task.facts(split.gold))
    report["sizes"] = [one.as_dict() for one in slices]
    report["balance"] = note(balance(split))
    report["groups"] = note(group_structure(split))
    report["duplicates"] = note(duplicates(split, threshold=threshold))
    report["overlaps"] = [note(overlap(split, train, threshold=threshold)) for train in beside.trains]
    report["cues"] = note(wording(split, beside.trains))
    scored = note(trivial(split, beside.trains, options, slices[0]))
    report["trivial"] = [one.as_dict() for one in scored]
    if beside.public is not None:
        found += beside.public.findings
    report["tells"] = note(_tells(split, beside.public, seed))
    report["agreement"] = None
    if beside.judgements is not None:
        report["agreement"] = note(agreement(split, beside.judgements, beside.judgements_file))
    report["not_looked_at"] = _not_looked_at(split, beside)
    found = gravest_first(found)
    report["counts"] = counts(found)
    report["publishable"] = not any(one.severity is Severity.ERROR for one in found)
    report["findings"] = [_named(one.as_dict()) for one in found]
    return plain(report), found


def _tells(split: Split, public: Public | None, seed: int) -> tuple[dict[str, Any], list[Finding]]:
    order = public.order if public is not None else list(range(len(split)))
    columns = public.columns if public is not None else split.columns
    told = tells(split, order, columns, order_is_public=public is not None or split.published, seed=seed)
    return told.tested, told.findings


def _named(finding: dict[str, Any]) -> dict[str, Any]:
    """Files by their names, without their folders."""
    where = finding["where"]
    if where["file"] is not None:
        where["file"] = Path(where["file"]).name
    return finding


def _not_looked_at(split: Split, beside: Beside) -> list[dict[str, str]]:
    told = []
    if beside.public is None and not split.published:
        told.append({"what": "inputs", "why": "no --inputs: that gold and inputs match is not checked"})
    if not beside.trains:
        told.append({"what": "training", "why": "no --train: neither leakage nor systems trained on public data"})
    if beside.judgements is None:
        told.append({"what": "agreement", "why": "no --annotations"})
    if not split.texts:
        told.append({"what": "near duplicates", "why": "the lines have no texts"})
    return told
