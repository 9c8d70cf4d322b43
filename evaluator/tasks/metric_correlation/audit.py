"""Audit of metric-correlation gold: its columns, lines without text or system, and uninformative ratings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator

import msgspec
import numpy as np

from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.grouped_findings import GroupedFindings
from evaluator.tasks.audit.split import AnswerKind, AuditColumns, Secret, Split, TaskAudit, as_words, text_or_empty
from evaluator.tasks.metric_correlation.layout import Gold
from evaluator.text import count_noun


def _columns(gold: Gold) -> AuditColumns:
    texts = [text_or_empty(text.generated) for text in gold.lines]
    ratings, systems = gold.ratings, gold.systems
    secrets = [Secret("rating", ratings)]
    if any(system is not None for system in systems):
        names = [None if system is None else str(system) for system in systems]
        secrets.append(Secret("system", names, answer=False, is_serious=False))
    return gold.audit_columns(
        questions=[
            (text, text_or_empty(line.reference)) if text else None
            for text, line in zip(texts, gold.lines, strict=True)
        ],
        answers=ratings,
        answer_kind=AnswerKind.RATING,
        secrets=secrets,
        texts=texts if any(texts) else [],
    )


def _contradicting_ratings(split: Split) -> Iterator[Finding]:
    """Yield one finding if equal texts with equal references are rated in both the lowest and the highest quarter."""
    ratings = np.array(split.gold.ratings, dtype=np.float64)
    ordered, quarter = np.sort(ratings), len(ratings) // 4
    low, high = ordered[quarter], ordered[-1 - quarter]
    by_question: dict[Hashable, list[int]] = defaultdict(list)
    for index, question in enumerate(split.questions):
        if question is not None:
            by_question[as_words(question)].append(index)
    contradicting = [
        indices
        for indices in by_question.values()
        if low < high and min(ratings[indices]) <= low and max(ratings[indices]) >= high
    ]
    if contradicting:
        lines = [[split.line(index) for index in indices] for indices in contradicting[:10]]
        yield Finding(
            Severity.WARNING,
            "duplicates-rated-apart",
            f"{count_noun(len(contradicting), 'text occurs', 'texts occur')} "
            f"with a rating in the lowest quarter and one in the highest, first on "
            "lines " + ", ".join(map(str, lines[0][:10])),
            "no metric can agree with both",
            "check them; one rating may belong to another text",
            split.file,
            lines[0][0],
            {"texts": len(contradicting), "lines": lines},
        )


def _check(split: Split) -> Iterator[Finding]:
    findings, gold = GroupedFindings(split), split.gold
    _, warning, _ = Severity
    textless = findings.kind(
        warning,
        "no-text",
        "have no generated text",
        "the public inputs have nothing to score, so the texts must be published elsewhere",
        "add generated, or state where it is published",
    )
    nameless = findings.kind(
        warning,
        "no-system",
        "name no system, though others do",
        "partial correlations exist only if every line names a system",
        "add the system",
    )
    systems = gold.systems
    names_systems = any(system is not None for system in systems)
    for index, (text, system) in enumerate(zip(gold.lines, systems, strict=True)):
        if text.generated is msgspec.UNSET or not str(text.generated).strip():
            textless.add(index)
        if names_systems and system is None:
            nameless.add(index)
    yield from findings.findings()
    yield from _contradicting_ratings(split)
    if len(set(gold.ratings)) == 1:
        yield Finding(
            Severity.ERROR,
            "one-rating",
            "all texts have the same rating",
            "no correlation has a value",
            "collect ratings that differ",
            split.file,
        )


AUDIT = TaskAudit(_columns, _check)
