"""Audit of fact-extraction gold: its columns, and checks of single texts.

The checks find facts with an empty part, lines without text, lines without facts, and facts and lines whose object or
subject does not occur in the text.
"""

from __future__ import annotations

from collections.abc import Iterator

from evaluator.errors import shown
from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.grouped_findings import GroupedFindings
from evaluator.tasks.audit.split import AnswerKind, AuditColumns, Secret, Split, TaskAudit, rarest, text_or_empty
from evaluator.tasks.fact_extraction.gold import Gold


def _columns(gold: Gold) -> AuditColumns:
    texts = [text_or_empty(line.text) for line in gold.texts]
    return gold.audit_columns(
        questions=[
            (text, text_or_empty(line.subject)) if text else None for text, line in zip(texts, gold.texts, strict=True)
        ],
        answers=gold.facts,
        answer_kind=AnswerKind.SET,
        secrets=[
            Secret("number of facts", [float(len(facts)) for facts in gold.facts]),
            Secret("relation", rarest([[relation for _, relation, _ in facts] for facts in gold.facts])),
        ],
        texts=texts if any(texts) else [],
        triples=[sorted(facts) for facts in gold.facts],
    )


def _check(split: Split) -> Iterator[Finding]:
    findings = GroupedFindings(split)
    error, warning, note = Severity
    empty = findings.kind(
        error,
        "empty-part",
        "have an empty subject, relation or object",
        "no system can predict it",
        "drop it",
        one_of="facts",
    )
    textless = findings.kind(
        warning,
        "no-text",
        "have no text",
        "the public inputs have no text to read, so it must be published elsewhere",
        "add text, or state where it is published",
    )
    absent = findings.kind(
        warning,
        "fact-not-in-text",
        "have an object that does not occur literally in the text",
        "they may be stated in other words, or not at all",
        "check some of them",
        one_of="facts",
    )
    subjectless = findings.kind(
        warning,
        "subject-not-in-text",
        "name a subject that does not occur literally in the text",
        "the text may be about another subject",
        "check some of them",
    )
    nothing = findings.kind(
        note,
        "no-facts",
        "have no facts",
        "any fact predicted for them is wrong, which lowers precision",
        "check that this is intended",
    )
    for index, (line, facts) in enumerate(zip(split.gold.texts, split.gold.facts, strict=True)):
        text = line.text.casefold() if isinstance(line.text, str) else None
        if text is None:
            textless.add(index)
        if text is not None and isinstance(line.subject, str) and line.subject.casefold() not in text:
            subjectless.add(index, shown(line.subject))
        if not facts:
            nothing.add(index)
        for fact in sorted(facts):
            if not all(part.strip() for part in fact):
                empty.add(index)
            elif text is not None and fact[2].casefold() not in text:
                absent.add(index, shown(fact[2]))
    return findings.findings()


AUDIT = TaskAudit(_columns, _check)
