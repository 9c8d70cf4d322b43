"""Audit of fact-verification gold: its columns, and checks of single claims and of symmetric sets.

The checks find empty claims, evidence that does not fit its label or lacks a page, and groups that are not symmetric.
"""

from __future__ import annotations

from collections.abc import Iterator

from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.grouped_findings import GroupedFindings
from evaluator.tasks.audit.split import AnswerKind, AuditColumns, Secret, Split, TaskAudit
from evaluator.tasks.fact_verification.gold import Gold
from evaluator.tasks.fact_verification.layout import LABELS, NOT_ENOUGH_INFO
from evaluator.tasks.fact_verification.symmetric import symmetric_problems

_UNVERIFIABLE = LABELS.index(NOT_ENOUGH_INFO)


def _columns(gold: Gold) -> AuditColumns:
    labels = [LABELS[code] for code in gold.labels]
    questions = list(zip(gold.claims, gold.evidence_texts, strict=True))
    return gold.audit_columns(
        questions=questions,
        answers=labels,
        answer_kind=AnswerKind.LABEL,
        secrets=[Secret("label", labels)],
        texts=[f"{claim} {evidence or ''}" for claim, evidence in questions],
        labels=LABELS,
        labelled_texts=list(gold.claims),
        evidence=gold.evidence_texts,
    )


def _check(split: Split) -> Iterator[Finding]:
    findings, gold = GroupedFindings(split), split.gold
    error, warning, _ = Severity
    empty = findings.kind(
        error, "empty-claim", "have an empty claim", "systems have nothing to judge", "drop them or add the claim"
    )
    without = findings.kind(
        warning,
        "evidence-missing",
        "are SUPPORTS or REFUTES and name no evidence",
        "no prediction can have complete evidence, so they are always wrong in the FEVER score",
        "add the evidence, or omit the key on all lines",
    )
    stray = findings.kind(
        warning,
        "evidence-unasked",
        "are NOT ENOUGH INFO and name evidence",
        "the label states that there is no evidence",
        "correct the label or drop the evidence",
    )
    hollow = findings.kind(
        error,
        "evidence-without-page",
        "have an evidence set in which a sentence has no page or no line",
        "no prediction can name it",
        "drop the set or complete it",
    )
    for index, (claim, label, evidence) in enumerate(zip(gold.claims, gold.labels, gold.evidence, strict=True)):
        if not claim.strip():
            empty.add(index)
        if evidence is None:
            continue
        paged = [
            evidence_set
            for evidence_set in evidence
            if evidence_set and all(sentence[2] is not None and sentence[3] is not None for sentence in evidence_set)
        ]
        if label == _UNVERIFIABLE:
            if paged:
                stray.add(index)
        elif not evidence:
            without.add(index)
        elif len(paged) < len(evidence):
            hollow.add(index)
    yield from findings.findings()
    if gold.declares_origin:
        yield from _symmetric(split)


def _symmetric(split: Split) -> Iterator[Finding]:
    gold = split.gold
    columns = zip(gold.claims, gold.evidence_texts, gold.labels, gold.groups, gold.slices, strict=True)
    lines = [
        {"claim": claim, "evidence_text": evidence, "label": LABELS[label], "group": group, "slices": slices}
        for claim, evidence, label, group, slices in columns
    ]
    problems = list(symmetric_problems(lines))
    if not problems:
        return
    index = next((index for index, _ in problems if index is not None), None)
    groups = len({lines[line_index]["group"] for line_index, _ in problems if line_index is not None})
    predictors = sum(line_index is None for line_index, _ in problems)
    first = next(problem for line_index, problem in problems if line_index == index)
    yield Finding(
        Severity.ERROR,
        "not-symmetric",
        f"{groups} groups are incomplete or not symmetric, and {predictors} texts or n-grams predict the label; "
        f"first: {first}",
        "a claim or a sentence alone predicts the label, which symmetric sets must prevent",
        "run `audit symmetric` for the full list; complete the groups, or remove the slice origin",
        split.file,
        split.line(index) if index is not None else None,
        {"groups": groups, "first": [problem for _, problem in problems[:10]]},
    )


AUDIT = TaskAudit(_columns, _check)
