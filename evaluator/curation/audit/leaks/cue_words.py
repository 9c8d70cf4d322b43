"""Cues (bigrams that predict labels), ranked by local mutual information, in the split and in its training files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evaluator.curation.text_stats.cues import CueTable, cue_table
from evaluator.statistics.ngrams import most_frequent
from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.split import Split

_TOP = 5
_ONE_SIDED = 0.8
_OFTEN = 20


def find_cues(split: Split, trains: Sequence[Split]) -> tuple[dict[str, Any] | None, list[Finding]]:
    """Rank the bigrams of claims by local mutual information with the label (see `text_stats.cues`).

    Returns the five strongest cues of each label, for the split and for the training files, and findings; (None, []) if
    the task has no labelled texts. The ten most frequent words are left out of bigrams.
    """
    if not split.labelled_texts:
        return None, []
    known = [text for train in trains for text in train.labelled_texts]
    drop = most_frequent(known or split.labelled_texts)
    table = cue_table(split.labelled_texts, [str(label) for label in split.answers], drop=drop)
    tables: dict[str, Any] = {"dropped": drop, "split": _top(table)}
    if known:
        labels = [str(label) for train in trains for label in train.answers]
        tables["training"] = _top(cue_table(known, labels, drop=drop))
    return tables, _one_sided(split, table)


def _top(table: CueTable) -> dict[str, list[dict[str, Any]]]:
    return {
        label: [cue._asdict() for cue, _ in zip(table.ranked(label), range(_TOP), strict=False)]
        for label in table.labels
    }


def _one_sided(split: Split, table: CueTable) -> list[Finding]:
    cues = [
        (cue.ngram, label, cue.p, cue.n)
        for label in table.labels
        for cue, _ in zip(table.ranked(label), range(_TOP), strict=False)
        if cue.lmi > 0 and cue.p >= _ONE_SIDED and cue.n >= _OFTEN
    ]
    if not cues:
        return []
    ngram, label, p, n = cues[0]
    return [
        Finding(
            Severity.WARNING,
            "one-sided-words",
            f'{len(cues)} frequent bigrams have one label {_ONE_SIDED:.0%} of the time or more: "{ngram}" has '
            f"the label {label} in a share of {p:.2f} of its {n} occurrences",
            "a system can learn these bigrams instead of reading the evidence",
            "make a symmetric set (split symmetric), or show the score of a claim-only baseline on the board",
            split.file,
            numbers={"bigrams": [dict(zip(("ngram", "label", "p", "n"), row, strict=True)) for row in cues]},
        )
    ]
