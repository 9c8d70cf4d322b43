"""The checks of the audit, in order. Each can be run separately, so that progress can be reported after each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evaluator.curation.audit.annotators.agreement import agreement
from evaluator.curation.audit.annotators.judgement_files import Judgements
from evaluator.curation.audit.audited_split import AuditedSplit
from evaluator.curation.audit.balance import balance, group_structure
from evaluator.curation.audit.duplicates.train_overlap import overlap
from evaluator.curation.audit.duplicates.within_split import duplicates
from evaluator.curation.audit.leaks.cue_words import find_cues
from evaluator.curation.audit.leaks.label_leaks import find_label_leaks
from evaluator.curation.audit.public_inputs import PublicInputs
from evaluator.curation.audit.sizes import sizes
from evaluator.curation.audit.trivial_baselines import trivial
from evaluator.tasks.audit.findings import Finding

FORMAT = 1
"""Version of the report: incremented when a key is removed or changes its meaning, not for new keys."""


@dataclass(frozen=True)
class AuditContext:
    """Files that the audit compares with the split.

    public: the inputs as they will be published; None: not given. train_splits: public training files. judgements: the
    annotators' judgements; None: not given. judgements_file: the name of the file of judgements.
    """

    public: PublicInputs | None = None
    train_splits: Sequence[AuditedSplit] = ()
    judgements: Judgements | None = None
    judgements_file: str = ""


@dataclass(frozen=True)
class AuditRequest:
    """Arguments of one audit.

    options: the task's options, from `Task.parse_options`. seed: for the permutations of the label-leak test.
    threshold: Jaccard similarity from which texts are near-duplicates, 0 to 1.
    """

    split: AuditedSplit
    context: AuditContext
    options: Mapping[str, Any]
    seed: int
    threshold: float


CheckResult = tuple[dict[str, Any], list[Finding]]
"""The part of the report that a check returns, by key, and its findings."""


def _sizes(request: AuditRequest) -> CheckResult:
    split = request.split
    task = split.task
    outcomes = task.score(split.gold, task.empty_answers(split.gold), request.options)
    slices, findings = sizes(split, outcomes)
    return {
        "audit": FORMAT,
        "task": task.name,
        "task_version": task.version,
        "file": Path(split.file).name,
        "published_layout": split.published,
        "lines": len(split),
        "units": outcomes.n_units,
        "primary": task.primary(task.facts(split.gold)),
        "sizes": [row.as_dict() for row in slices],
    }, [*task.audit.check(split), *findings]


def _balance(request: AuditRequest) -> CheckResult:
    table, findings = balance(request.split)
    groups, more_findings = group_structure(request.split)
    return {"balance": table, "groups": groups}, [*findings, *more_findings]


def _duplicates(request: AuditRequest) -> CheckResult:
    counts, findings = duplicates(request.split, threshold=request.threshold)
    return {"duplicates": counts}, findings


def _overlaps(request: AuditRequest) -> CheckResult:
    results = [overlap(request.split, train, threshold=request.threshold) for train in request.context.train_splits]
    return {"overlaps": [counts for counts, _ in results]}, [finding for _, findings in results for finding in findings]


def _cues(request: AuditRequest) -> CheckResult:
    cues, findings = find_cues(request.split, request.context.train_splits)
    return {"cues": cues}, findings


def _trivial(request: AuditRequest) -> CheckResult:
    split = request.split
    outcomes = split.task.score(split.gold, split.task.empty_answers(split.gold), request.options)
    baselines, findings = trivial(split, request.context.train_splits, request.options, sizes(split, outcomes)[0][0])
    return {"trivial": [baseline.as_dict() for baseline in baselines]}, findings


def _label_leaks(request: AuditRequest) -> CheckResult:
    split, public = request.split, request.context.public
    order = public.order if public is not None else list(range(len(split)))
    columns = public.columns if public is not None else split.columns
    leaks = find_label_leaks(
        split, order, columns, order_is_public=public is not None or split.published, seed=request.seed
    )
    return {"label_leaks": leaks.tested}, [
        *(public.findings if public is not None else []),
        *leaks.findings,
    ]


def _agreement(request: AuditRequest) -> CheckResult:
    context = request.context
    statistics: dict[str, Any] | None = None
    findings: list[Finding] = []
    if context.judgements is not None:
        statistics, findings = agreement(request.split, context.judgements, context.judgements_file)
    return {"agreement": statistics, "not_looked_at": _skipped_checks(request.split, context)}, findings


def _skipped_checks(split: AuditedSplit, context: AuditContext) -> list[dict[str, str]]:
    skipped = []
    if context.public is None and not split.published:
        skipped.append({"what": "inputs", "why": "no --inputs: the match of gold and inputs is not checked"})
    if not context.train_splits:
        skipped.append(
            {"what": "training", "why": "no --train: leakage from training data and trained baselines are not checked"}
        )
    if context.judgements is None:
        skipped.append({"what": "agreement", "why": "no --annotations"})
    if not split.texts:
        skipped.append({"what": "near duplicates", "why": "the lines have no texts"})
    return skipped


CHECKS: dict[str, Callable[[AuditRequest], CheckResult]] = {
    "sizes": _sizes,
    "balance": _balance,
    "duplicates": _duplicates,
    "overlaps": _overlaps,
    "cues": _cues,
    "trivial": _trivial,
    "tells": _label_leaks,
    "agreement": _agreement,
}
"""Checks by name. `report.assembled` joins their results in this order."""
