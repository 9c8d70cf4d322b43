"""fact-verification in audits: columns, labels and evidence that do not go together, symmetric sets that are not."""

from __future__ import annotations

from collections.abc import Iterator

from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.grouped_findings import Faults
from evaluator.tasks.audit.split import AnswerKind, AuditColumns, Secret, Split
from evaluator.tasks.fact_verification.gold import Gold
from evaluator.tasks.fact_verification.layout import LABELS, NOT_ENOUGH_INFO
from evaluator.tasks.fact_verification.symmetric import symmetric_faults
from evaluator.tasks.gold_fields import GoldFields, Line, distinct, present

_UNVERIFIABLE = LABELS.index(NOT_ENOUGH_INFO)


GOLD_ONLY = frozenset({"label", "gold_label", "evidence", "verifiable"})


def audit_columns(gold: Gold) -> AuditColumns:
    labels = [LABELS[code] for code in gold.labels]
    asked = list(zip(gold.claims, gold.evidence_texts, strict=True))
    return AuditColumns(
        ids=list(gold.ids),
        groups=gold.groups,
        slices=gold.slices,
        questions=asked,
        answers=labels,
        answer_kind=AnswerKind.LABEL,
        secrets=[Secret("label", labels)],
        texts=[f"{claim} {evidence or ''}" for claim, evidence in asked],
        labels=LABELS,
        labelled_texts=gold.claims,
        evidence=gold.evidence_texts,
    )


def gold_fields(line: Line) -> GoldFields:
    fields = GoldFields(present(line, "claim", "evidence_text"), {"label": line["label"].upper()})
    if "evidence" in line:
        # A set is met by its pages and lines alone, and twice the same set is one.
        sets = [sorted({(page, place) for *_, page, place in one}, key=repr) for one in line["evidence"]]
        fields.answer["has evidence"] = True
        fields.many["evidence"] = distinct([[list(sentence) for sentence in one] for one in sets])
    return fields


def check_gold(split: Split) -> Iterator[Finding]:
    faults, gold = Faults(split), split.gold
    error, warning, _ = Severity
    empty = faults.kind(error, "empty-claim", "have an empty claim", "nothing is asked", "drop them or fill them in")
    without = faults.kind(
        warning,
        "evidence-missing",
        "are SUPPORTS or REFUTES and name no evidence",
        "no prediction can have complete evidence, so they never count in the FEVER score",
        "add the evidence, or leave out the key on all lines",
    )
    stray = faults.kind(
        warning,
        "evidence-unasked",
        "are NOT ENOUGH INFO and name evidence",
        "the label says that there is none",
        "correct the label or drop the evidence",
    )
    hollow = faults.kind(
        error,
        "evidence-without-page",
        "have an evidence set in which a sentence has no page or no line",
        "no prediction can name it",
        "drop the set or complete it",
    )
    for place, (claim, label, evidence) in enumerate(zip(gold.claims, gold.labels, gold.evidence, strict=True)):
        if not claim.strip():
            empty.add(place)
        if evidence is None:
            continue
        paged = [one for one in evidence if one and all(s[2] is not None and s[3] is not None for s in one)]
        if label == _UNVERIFIABLE:
            if paged:
                stray.add(place)
        elif not evidence:
            without.add(place)
        elif len(paged) < len(evidence):
            hollow.add(place)
    yield from faults.findings()
    if gold.declares_origin:
        yield from _symmetric(split)


def _symmetric(split: Split) -> Iterator[Finding]:
    gold = split.gold
    columns = zip(gold.claims, gold.evidence_texts, gold.labels, gold.groups, gold.slices, strict=True)
    lines = [
        {"claim": claim, "evidence_text": evidence, "label": LABELS[label], "group": group, "slices": slices}
        for claim, evidence, label, group, slices in columns
    ]
    found = list(symmetric_faults(lines))
    if not found:
        return
    place = next((place for place, _ in found if place is not None), None)
    groups = sum(at is not None for at, _ in found)
    first = next(fault for at, fault in found if at == place)
    yield Finding(
        Severity.ERROR,
        "not-symmetric",
        f"{groups} groups are not whole and symmetric, and {len(found) - groups} lists of texts tell the label; "
        f"first: {first}",
        "a claim, or a sentence, alone says something about the label, which symmetric sets are made to rule out",
        "see `audit symmetric` for all of them; complete the groups, or drop the slice origin",
        split.file,
        split.line(place) if place is not None else None,
        {"groups": groups, "first": [fault for _, fault in found[:10]]},
    )
