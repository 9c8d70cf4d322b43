"""The gold columns that audits use, and the audit checks of this task."""

from collections import Counter
from collections.abc import Iterator

from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.grouped_findings import GroupedFindings
from evaluator.tasks.audit.split import AnswerKind, AuditColumns, Secret, Split, TaskAudit
from holdout_text_classification.files import Gold

_RARE = 5


def _columns(gold: Gold) -> AuditColumns:
    texts, labels = [line.text for line in gold.lines], gold.labels
    return gold.audit_columns(
        questions=texts,
        answers=labels,
        answer_kind=AnswerKind.LABEL,
        secrets=[Secret("label", labels)],
        texts=texts,
        labelled_texts=texts,
    )


def _check(split: Split) -> Iterator[Finding]:
    faults = GroupedFindings(split)
    empty = faults.kind(Severity.ERROR, "empty-text", "have an empty text", "there is nothing to read", "remove them")
    rare = faults.kind(
        Severity.WARNING,
        "rare-label",
        f"have a label that fewer than {_RARE} lines have",
        "macro F1 gives each class the same weight, so these few lines have a large effect",
        "check its name, collect more lines, or merge classes",
    )
    counts = Counter(split.answers)
    for index, (text, label) in enumerate(zip(split.texts, split.answers, strict=True)):
        if not text.strip():
            empty.add(index)
        if counts[label] < _RARE:
            rare.add(index, str(label))
    return faults.findings()


AUDIT = TaskAudit(_columns, _check)
