"""What a training file tells of a test split, at three levels: to the letter, in the same words, in other words.

Questions with texts are compared as texts; questions about triples by the rules of leakage removal (`leakage`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from evaluator.curation.audit.duplicates.near_duplicates import near_pairs
from evaluator.curation.audit.duplicates.shared_entities import shared_names
from evaluator.curation.audit.duplicates.triple_overlap import (
    leaking,
    shared_facts,
    shared_pairs,
    strange_relations,
)
from evaluator.tasks.audit.findings import Finding, Severity
from evaluator.tasks.audit.split import Split, as_words

LEVELS = ("simple", "basic", "thorough")
_NAMED = 10
_HOW = {
    "simple": "to the letter",
    "basic": "in the same words (case, punctuation, or the ends of a triple turned round)",
    "thorough": "in other words",
}


def overlap(split: Split, train: Split, *, threshold: float) -> tuple[dict[str, Any], list[Finding]]:
    """Counts at each level, the lower ones counted in; `lines` of the split where texts are compared, of the training
    file where triples are, as in leakage removal. threshold: of near duplicates, the third level of texts."""
    told: dict[str, Any] = {"train": train.name, "training_lines": len(train), "lines": len(split)}
    if split.asked_triples is not None:
        pairs, more = shared_pairs(split, train)
        places = leaking(split, train)
        told |= {"counted": "training lines", **pairs}
        counted = train
    else:
        more = []
        places = dict(_by_texts(split, train, threshold))
        told["counted"] = "lines of the split"
        counted = split
    told |= {name: sum(at <= level for at in places.values()) for level, name in enumerate(LEVELS)}
    findings = []
    for level, name in enumerate(LEVELS):
        found = sorted(place for place, at in places.items() if at == level)
        if found:
            findings.append(_finding(split, train, counted, name, found))
    facts, note = shared_facts(split, train)
    return told | facts, [*findings, *more, *note, *strange_relations(split, train), *shared_names(split, train)]


def _by_texts(split: Split, train: Split, threshold: float) -> Iterable[tuple[int, int]]:
    """(place in the split, level)."""
    letters = {*train.questions}
    words = {as_words(question) for question in train.questions}
    both = split.texts and train.texts
    alike = {pair.first for pair in near_pairs(split.texts, train.texts, threshold=threshold).found} if both else set()
    claims = {*_claims(train)}
    for place, (question, claim) in enumerate(zip(split.questions, _claims(split), strict=True)):
        if question is None:
            continue
        if question in letters:
            yield place, 0
        elif as_words(question) in words:
            yield place, 1
        elif place in alike or (claim is not None and claim in claims):
            yield place, 2


def _claims(split: Split) -> list[Hashable]:
    """Where a line is a claim with a sentence, the claim's words: alone they tell of the other sentence's label."""
    return [as_words(claim) for claim in split.labelled_texts] or [None] * len(split)


def _finding(split: Split, train: Split, counted: Split, level: str, found: list[int]) -> Finding:
    whose = f"lines of {train.name} say a line of the split" if counted is train else f"lines are told by {train.name}"
    return Finding(
        Severity.ERROR if level == "simple" else Severity.WARNING,
        f"leakage-{level}",
        f"{len(found)} {whose} {_HOW[level]}, the first on line {counted.line(found[0])}",
        "a system that has seen the training file can remember instead of solving the task",
        "take these lines out of the training file, or out of the split",
        counted.file,
        counted.line(found[0]),
        {
            "train": train.name,
            "level": level,
            "count": len(found),
            "of": len(counted),
            "lines": [counted.line(place) for place in found[:_NAMED]],
            "texts": [counted.asked(place) for place in found[:_NAMED]],
        },
    )
