"""Audit check of inter-annotator agreement."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

from evaluator.curation.audit.annotators.judgement_files import Judgements
from evaluator.curation.audit.annotators.judgements import against_gold
from evaluator.curation.text_stats.agreement import LEVELS, alpha, by_annotator, each_pair, percent_agreement
from evaluator.jsonl.ids import Id, format_ids
from evaluator.tasks.audit.findings import Finding, Severity, percent
from evaluator.tasks.audit.split import AnswerKind, Split
from evaluator.text import count_noun

TENTATIVE, GOOD = 0.667, 0.8
"""Thresholds of Krippendorff's alpha (Krippendorff 2004): reliable from .8 on, tentative conclusions from .667 on."""

_PAIRS = 20


def statistics(judgements: Judgements) -> dict[str, Any]:
    """Return the statistics of agreement between annotators as JSON values, by name.

    They are the numbers of items, of items judged twice or more, and of annotators; the share of equal pairs among all
    pairs of judgements on one item (`percent`); Krippendorff's alpha by level of measurement; and, for the pairs of
    annotators with the most items in common, the number of these items (n), the share of equal judgements and Cohen's
    kappa.
    """
    units = judgements.units
    values = list(units.values())
    pairs = each_pair(by_annotator(judgements.named))
    levels = LEVELS if judgements.scores else LEVELS[:1]
    return {
        "items": len(units),
        "judged_twice": sum(len(unit) > 1 for unit in values),
        # Unnamed annotators are as many as the longest list has.
        "annotators": len({annotator for _, annotator, _ in judgements.named}) or max(map(len, values), default=0),
        "percent": percent_agreement(values),
        "alpha": {level: alpha(values, level) for level in levels},
        "pairs": [
            {"annotators": [a, b], "n": pair.n, "percent": pair.percent, "kappa": pair.kappa}
            for (a, b), pair in itertools.islice(sorted(pairs.items(), key=lambda item: -item[1].n), _PAIRS)
        ],
        "number_of_pairs": len(pairs),
    }


def agreement(split: Split, judgements: Judgements, file: str) -> tuple[dict[str, Any], list[Finding]]:
    """Return agreement statistics as JSON values, and findings on the judgements. file: the name of the file of
    judgements.

    Findings: low agreement, items that the gold lacks, judgements that contradict the gold.
    """
    units = judgements.units
    stats = statistics(judgements)
    level = "ordinal" if judgements.scores else "nominal"
    findings = [
        *_low_agreement(file, stats, level),
        *_unknown_items(split, units, file),
        *against_gold(split, judgements.rows, judgements.scores, file),
    ]
    if not judgements.scores:
        disagreeing, majority_findings = _against_majority(split, units)
        stats["gold_against_majority"] = disagreeing
        findings += majority_findings
    return stats, findings


def _low_agreement(file: str, stats: dict[str, Any], level: str) -> list[Finding]:
    value = stats["alpha"][level]
    if not value < GOOD:  # NaN is not below GOOD, so it gives no finding
        return []
    grave = value < TENTATIVE
    return [
        Finding(
            Severity.WARNING if grave else Severity.NOTE,
            "low-agreement",
            f"Krippendorff's {level} alpha is {value:.3f} ({percent(stats['percent'])} of pairs of judgements agree)",
            f"alpha is under {TENTATIVE if grave else GOOD:g}: "
            + ("annotators do not agree on what is right" if grave else "enough for tentative conclusions only"),
            "improve the guidelines, repeat the annotation, or show the agreement next to the scores",
            file,
            numbers={"alpha": value, "level": level, "percent": stats["percent"]},
        )
    ]


def _unknown_items(split: Split, units: dict[Id, list[Any]], file: str) -> list[Finding]:
    known = {*split.ids}
    strangers = [name for name in units if name not in known]
    if not strangers:
        return []
    return [
        Finding(
            Severity.ERROR,
            "judgements-without-gold",
            f"{len(strangers)} judged items are not in the gold: {format_ids(strangers)}",
            "the agreement was not measured on this split alone",
            "pass the judgements of this split",
            file,
            numbers={"count": len(strangers)},
        )
    ]


def _against_majority(split: Split, units: dict[Id, list[Any]]) -> tuple[int, list[Finding]]:
    """Return (number of items whose gold label is not the label that most annotators chose, findings on these items).

    Items with one judgement, or without a single most frequent label, are not counted. (0, []) if the gold's answers
    are not labels.
    """
    index_of = {name: index for index, name in enumerate(split.ids)}
    answers = [str(value).lower() for value in split.secrets[0].values]
    disagreeing = []
    for name, values in units.items():
        (first, count), *rest = Counter(str(value).lower() for value in values).most_common(2)
        is_majority = not rest or rest[0][1] < count
        if is_majority and name in index_of and len(values) > 1 and answers[index_of[name]] != first:
            disagreeing.append(index_of[name])
    if not disagreeing or split.answer_kind is not AnswerKind.LABEL:
        return 0, []
    disagreeing.sort()
    return len(disagreeing), [
        Finding(
            Severity.WARNING,
            "gold-against-majority",
            f"{count_noun(len(disagreeing), 'label is', 'labels are')} "
            f"not the label of most annotators, the first on line {split.line(disagreeing[0])}",
            "either the annotators' labels were corrected, or the gold is wrong",
            "check these labels",
            split.file,
            split.line(disagreeing[0]),
            {"count": len(disagreeing), "lines": [split.line(index) for index in disagreeing[:10]]},
        )
    ]
