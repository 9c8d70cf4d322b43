"""Label balance of the split and its slices, and the structure of its groups."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable
from typing import Any

from evaluator.curation.audit.audited_split import AuditedSplit
from evaluator.measures.auroc import Auroc
from evaluator.outcomes.table import SliceValue
from evaluator.tasks.audit.findings import Finding, Severity, percent
from evaluator.tasks.audit.split import AnswerKind
from evaluator.text import slice_text

_CLASSES = 20
_UNEVEN = 0.9


def balance(split: AuditedSplit) -> tuple[list[dict[str, Any]], list[Finding]]:
    """Return a table of label counts, and findings on rows with one label or with unevenly distributed labels.

    The table has a row for the whole split (slice {}), then one for each slice of each dimension. `majority` is the
    share of the row's most frequent label. Table and findings are empty unless the task's answers are labels.
    """
    if split.answer_kind is not AnswerKind.LABEL:
        return [], []
    labels = split.secrets[0].values
    table = [_row({}, Counter(labels))]
    for name in dict.fromkeys(name for slices in split.slices if slices for name in slices):
        if name == "label":
            continue
        counts: dict[tuple[type, SliceValue], Counter[Any]] = defaultdict(Counter)
        for value, label in zip(split.column(name), labels, strict=True):
            if value is not None:
                counts[type(value), value][label] += 1
        table += [_row({name: value}, count) for (_, value), count in counts.items()]
    return table, [finding for row in table for finding in _row_findings(split, row, table[0])]


def _row(slice_: dict[str, SliceValue], count: Counter[Any]) -> dict[str, Any]:
    return {
        "slice": slice_,
        "labels": dict(sorted(count.items())),
        "majority": max(count.values()) / count.total(),
    }


def _row_findings(split: AuditedSplit, row: dict[str, Any], whole_row: dict[str, Any]) -> list[Finding]:
    name = ", ".join(f"{k}={slice_text(v)}" for k, v in row["slice"].items()) or "the split"
    labels, majority = row["labels"], row["majority"]
    counts_text = ", ".join(f"{count} {label}" for label, count in labels.items())
    if len(labels) == 1:
        needs_both = isinstance(split.measure, Auroc)
        return [
            Finding(
                Severity.ERROR if needs_both and not row["slice"] else Severity.WARNING,
                "one-label",
                f"{name} has one label: {counts_text}",
                "there are no two classes to separate; AUROC has no value"
                if needs_both
                else "always predicting this label is right on every line",
                "add lines with another label, or drop the slice from boards",
                split.file,
                numbers=row,
            )
        ]
    if "origin" in row["slice"] and len(set(labels.values())) > 1 and len(set(whole_row["labels"].values())) == 1:
        return [
            Finding(
                Severity.WARNING,
                "unbalanced-origin",
                f"{name} is not balanced ({counts_text}), though the whole split is",
                f"the most frequent label is right on {percent(majority)} of the slice, which has only some lines of "
                "each group: chance accuracy on this slice alone is not 50 %",
                "rank systems by a measure of the whole split, and add a note to accuracies on this slice",
                split.file,
                numbers=row,
            )
        ]
    if majority >= _UNEVEN:
        return [
            Finding(
                Severity.NOTE,
                "uneven-labels",
                f"{name}: {counts_text}",
                f"always predicting the most frequent label is right on {percent(majority)}",
                "show the score of the majority baseline next to the systems' scores",
                split.file,
                numbers=row,
            )
        ]
    return []


def group_structure(split: AuditedSplit) -> tuple[dict[str, Any], list[Finding]]:
    """Return the number of groups and their sizes in lines, and findings.

    `groups` is the number of groups, `largest` the size of the largest one, and `sizes` maps each size to the number of
    groups of this size. Findings: a group with more than half of the lines, and claims that are in several groups.
    """
    size = Counter(split.groups)
    size_counts = Counter(size.values())
    structure: dict[str, Any] = {
        "groups": len(size),
        "sizes": {str(n): size_counts[n] for n in sorted(size_counts)},
        "largest": max(size.values(), default=0),
    }
    findings = []
    if structure["largest"] * 2 > len(split) and len(split) > 1:
        findings.append(
            Finding(
                Severity.WARNING,
                "one-large-group",
                f"one group has {structure['largest']} of {len(split)} lines",
                "groups are resampled whole: where one group dominates, no confidence interval can be trusted",
                "use smaller groups",
                split.file,
                numbers=structure,
            )
        )
    findings += _shared_across_groups(split)
    return structure, findings


def _shared_across_groups(split: AuditedSplit) -> list[Finding]:
    """Return a finding if claims occur in several groups, which makes the answers of these groups dependent.

    Only splits with evidence sentences are searched; for other splits the list is empty.
    """
    if all(text is None for text in split.evidence):
        return []
    groups: dict[Hashable, set[Hashable]] = defaultdict(set)
    for claim, group in zip(split.labelled_texts, split.groups, strict=True):
        groups[claim].add(group)
    shared = sum(len(claim_groups) > 1 for claim_groups in groups.values())
    if not shared:
        return []
    return [
        Finding(
            Severity.WARNING,
            "groups-share-claims",
            f"{shared} claims are in more than one group",
            "intervals and the public/private split treat groups as independent; these groups are dependent",
            "put lines with the same claim into one group",
            split.file,
            numbers={"claims": shared, "of": len(groups)},
        )
    ]
