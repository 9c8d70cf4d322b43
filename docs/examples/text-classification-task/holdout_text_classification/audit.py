"""What an audit sees of the gold, and what it finds wrong with it."""

from collections import Counter
from collections.abc import Iterator

from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.grouped_findings import GroupedFindings
from evaluator.tasks.audit.split import AnswerKind, AuditColumns, Secret, Split
from holdout_text_classification.files import Gold

_RARE = 5


def audit_columns(gold: Gold) -> AuditColumns:
    texts = [line.text for line in gold.texts]
    return AuditColumns(
        ids=list(gold.ids),
        groups=gold.groups,
        slices=gold.slices,
        questions=texts,
        answers=gold.labels,
        answer_kind=AnswerKind.LABEL,
        secrets=[Secret("label", gold.labels)],
        texts=texts,
        labelled_texts=texts,
    )


def check_gold(split: Split) -> Iterator[Finding]:
    faults = GroupedFindings(split)
    empty = faults.kind(Severity.ERROR, "empty-text", "have an empty text", "there is nothing to read", "drop them")
    rare = faults.kind(
        Severity.WARNING,
        "rare-label",
        f"have a label that fewer than {_RARE} lines have",
        "macro F1 counts each class as much as the others, and these hang on a few lines",
        "check its name, collect more, or join classes",
    )
    often = Counter(split.gold.labels)
    for place, (line, label) in enumerate(zip(split.gold.texts, split.gold.labels, strict=True)):
        if not line.text.strip():
            empty.add(place)
        if often[label] < _RARE:
            rare.add(place, label)
    return faults.findings()
