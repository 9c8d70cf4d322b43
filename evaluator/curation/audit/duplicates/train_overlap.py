"""Leakage from a training file to a test split at three levels: exact, same words, paraphrased.

Questions with texts are compared as texts. Questions about triples are compared by the rules of leakage removal
(`evaluator.curation.open_triples.leakage`). Other senses of leakage are listed in `evaluator.curation.audit.leaks`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any

from evaluator.curation.audit.duplicates.similar_texts import near_pairs
from evaluator.curation.audit.duplicates.triple_overlap import (
    leaking,
    shared_facts,
    shared_pairs,
    unknown_relations,
)
from evaluator.tasks.audit.findings import Finding, Severity, percent
from evaluator.tasks.audit.split import Split, as_words

LEVELS = ("simple", "basic", "thorough")
_NAMED = 10
_HOW = {
    "simple": "exactly",
    "basic": "in the same words (other case or punctuation, or subject and object swapped)",
    "thorough": "in other words",
}


def overlap(split: Split, train: Split, *, threshold: float) -> tuple[dict[str, Any], list[Finding]]:
    """Return counts, and findings on all that a training file shares with the split.

    The counts have the number of leaking lines by level; the number of a level includes those of stricter levels. Where
    texts are compared, lines of the split are counted; where triples are compared, lines of the training file, as in
    leakage removal. Further counts are those of `triple_overlap`. threshold: the Jaccard similarity from which texts
    are near-duplicates; these leak at the level `thorough`.
    """
    counts: dict[str, Any] = {"train": train.name, "training_lines": len(train), "lines": len(split)}
    if split.queried_triples is not None:
        pairs, pair_findings = shared_pairs(split, train)
        level_of = leaking(split, train)
        counts |= {"counted": "training lines", **pairs}
        counted = train
    else:
        pair_findings = []
        level_of = dict(_by_texts(split, train, threshold))
        counts["counted"] = "lines of the split"
        counted = split
    counts |= {name: sum(lowest <= level for lowest in level_of.values()) for level, name in enumerate(LEVELS)}
    findings = []
    for level, name in enumerate(LEVELS):
        indices = sorted(index for index, lowest in level_of.items() if lowest == level)
        if indices:
            findings.append(_finding(split, train, counted, name, indices))
    facts, fact_findings = shared_facts(split, train)
    return counts | facts, [
        *findings,
        *pair_findings,
        *fact_findings,
        *unknown_relations(split, train),
        *_shared_names(split, train),
    ]


def _by_texts(split: Split, train: Split, threshold: float) -> Iterable[tuple[int, int]]:
    """Yield (index of a leaking line in the split, index of its strictest level in LEVELS).

    threshold: the Jaccard similarity from which texts are near-duplicates.
    """
    exact = {*train.questions}
    words = {as_words(question) for question in train.questions}
    both = split.texts and train.texts
    similar = (
        {pair.first for pair in near_pairs(split.texts, train.texts, threshold=threshold).pairs} if both else set()
    )
    claims = {*_claims(train)}
    for index, (question, claim) in enumerate(zip(split.questions, _claims(split), strict=True)):
        if question is None:
            continue
        if question in exact:
            yield index, 0
        elif as_words(question) in words:
            yield index, 1
        elif index in similar or (claim is not None and claim in claims):
            yield index, 2


def _claims(split: Split) -> list[Hashable]:
    """Return each line's claim as words; None for each line unless the task pairs claims with evidence sentences.

    A claim that is in training hints at its label, even if it has another evidence sentence there.
    """
    return [as_words(claim) for claim in split.labelled_texts] or [None] * len(split)


def _finding(split: Split, train: Split, counted: Split, level: str, indices: list[int]) -> Finding:
    whose = (
        f"lines of {train.name} repeat a line of the split"
        if counted is train
        else f"lines are repeated in {train.name}"
    )
    return Finding(
        Severity.ERROR if level == "simple" else Severity.WARNING,
        f"leakage-{level}",
        f"{len(indices)} {whose} {_HOW[level]}, the first on line {counted.line(indices[0])}",
        "a system trained on that file can memorise answers instead of solving the task",
        "remove these lines from the training file, or from the split",
        counted.file,
        counted.line(indices[0]),
        {
            "train": train.name,
            "level": level,
            "count": len(indices),
            "of": len(counted),
            "lines": [counted.line(index) for index in indices[:_NAMED]],
            "texts": [counted.queried(index) for index in indices[:_NAMED]],
        },
    )


def _shared_names(split: Split, train: Split) -> Iterator[Finding]:
    """Yield findings on ids, groups and evidence sentences that are in the split and in the training file.

    A group whose name is the id of its own line is left out, since ids are compared already. The string "1" and the
    integer 1 are different.
    """
    own_ids = split.has_ids and train.has_ids
    if own_ids:
        means = "an id names one item, so one of the two files is wrong"
        yield from _shared(split, train, "ids", values=split.ids, known=train.ids, meaning=means)
        groups: list[Hashable] = [
            None if group == name else group for group, name in zip(split.groups, split.ids, strict=True)
        ]
        known = [group for group, name in zip(train.groups, train.ids, strict=True) if group != name]
        means = "the lines of a group reveal each other's answers, so a group belongs to one of the two files only"
        yield from _shared(split, train, "groups", values=groups, known=known, meaning=means)
    if split.evidence:
        means = "a sentence in training, with its label, reveals something about the claims that share it"
        yield from _shared(split, train, "evidence", values=_evidence(split), known=_evidence(train), meaning=means)


def _evidence(split: Split) -> list[Hashable]:
    return [None if not text else as_words(text) for text in split.evidence]


def _shared(
    split: Split, train: Split, noun: str, *, values: Sequence[Hashable], known: Sequence[Hashable], meaning: str
) -> Iterator[Finding]:
    known_values = {(type(value), value) for value in known if value is not None}
    indices = [index for index, value in enumerate(values) if (type(value), value) in known_values]
    if indices:
        yield Finding(
            Severity.WARNING,
            f"{noun}-in-training",
            f"{len(indices)} of {len(split)} lines ({percent(len(indices) / len(split))}) have {noun} that also occur "
            f"in {train.name}, the first on line {split.line(indices[0])}",
            meaning,
            "remove these lines from one of the two files, or rename them",
            split.file,
            split.line(indices[0]),
            {"train": train.name, "count": len(indices), "lines": [split.line(index) for index in indices[:_NAMED]]},
        )
