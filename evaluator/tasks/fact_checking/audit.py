"""Audit of fact-checking gold: its columns, and checks of single claims.

The checks find claims with an empty part, claims with one entity as subject and object, false claims that are true with
subject and object swapped, and claims of rare relations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from evaluator.errors import shown
from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.grouped_findings import GroupedFindings
from evaluator.tasks.audit.split import AnswerKind, AuditColumns, QueriedTriple, Secret, Split, TaskAudit, Triple
from evaluator.tasks.fact_checking.layout import Gold

_RARE = 5


def _columns(gold: Gold) -> AuditColumns:
    triples: list[Triple] = [(claim.subject, claim.relation, claim.object) for claim in gold.lines]
    labels = gold.labels
    return gold.audit_columns(
        questions=triples,
        answers=labels,
        answer_kind=AnswerKind.LABEL,
        secrets=[Secret("label", ["true" if label else "false" for label in labels])],
        labels=("true", "false"),
        triples=[[triple] for triple in triples],
        queried_triples=[QueriedTriple(*triple) for triple in triples],
    )


def _check(split: Split) -> Iterator[Finding]:
    findings = GroupedFindings(split)
    error, warning, note = Severity
    empty = findings.kind(
        error, "empty-part", "have an empty subject, relation or object", "the triple is incomplete", "drop them"
    )
    loops = findings.kind(
        warning,
        "subject-is-object",
        "have one entity as subject and as object",
        "few relations relate an entity to itself, so this reveals the label",
        "sample other false claims",
    )
    turned = findings.kind(
        warning,
        "turned-round",
        "are false, but true with subject and object swapped",
        "they are true if the relation is symmetric",
        "check them; `split scenarios` does not generate such claims",
    )
    rare = findings.kind(
        note,
        "rare-relation",
        f"have a relation that fewer than {_RARE} claims have",
        "the relation may be misspelt, and has too few claims for any conclusion",
        "check the relation's name",
    )
    triples = [line_triples[0] for line_triples in split.triples]
    true = {triple for triple, label in zip(triples, split.answers, strict=True) if label}
    frequency = Counter(relation for _, relation, _ in triples)
    for index, ((subject, relation, object_), label) in enumerate(zip(triples, split.answers, strict=True)):
        if not (subject.strip() and relation.strip() and object_.strip()):
            empty.add(index)
        elif subject == object_:
            loops.add(index, shown(subject))
        if not label and (object_, relation, subject) in true:
            turned.add(index, f"{shown(subject)}, {shown(object_)}")
        if frequency[relation] < min(_RARE, len(triples)):
            rare.add(index, shown(relation))
    return findings.findings()


AUDIT = TaskAudit(_columns, _check)
