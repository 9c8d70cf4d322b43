"""Overlap of a split of triples with a training file.

The checks count training triples that leak an answer of the split (`evaluator.curation.open_triples.leakage`), pairs of
subject and object and facts that occur in both files, and relations of the split that no training triple has.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evaluator.curation.open_triples.leakage import Leakage, Level
from evaluator.curation.open_triples.token_sets import Normaliser, TokenCounts
from evaluator.curation.open_triples.triples import OpenTriple
from evaluator.jsonl.ids import format_ids
from evaluator.tasks.audit.findings import Finding, Severity, percent
from evaluator.tasks.audit.split import AnswerKind, Split, Triple
from evaluator.text import count_noun

_NAMED = 10


def leaking(split: Split, train: Split) -> dict[int, int]:
    """Return index of a training line -> its level of leakage (0 simple, 1 basic, 2 thorough), for each line that
    leaks.
    """
    rows = [(index, triple) for index, triples in enumerate(train.triples) for triple in triples if _has_words(triple)]
    counts = TokenCounts()
    counts.add([triple for _, triple in rows])
    leakage = Leakage(_evaluated(split), Normaliser(counts.stop_words().all))
    rules = leakage.rules([triple for _, triple in rows])
    level_of: dict[int, int] = {}
    for (index, _), rule in zip(rows, rules, strict=True):
        if rule:
            level = 0 if rule <= Level.SIMPLE else 1 if rule <= Level.BASIC else 2
            level_of[index] = min(level, level_of.get(index, level))
    return level_of


def _has_words(triple: Triple) -> bool:
    """Return True if no part of the triple is blank. Incomplete triples cannot leak, and other checks report them."""
    return all(part.strip() for part in triple)


def _evaluated(split: Split) -> Iterable[OpenTriple]:
    return [OpenTriple(*triple) for triple in split.queried_triples or () if _has_words(triple[:3])]


def shared_pairs(split: Split, train: Split) -> tuple[dict[str, Any], list[Finding]]:
    """Return a count and findings: the split's lines whose subject and object occur together in a training triple.

    The count is {"pairs_in_training": number of these lines}.
    """
    known = {(s, o) for triples in train.triples for s, _, o in triples}
    indices = [index for index, triples in enumerate(split.triples) if any((s, o) in known for s, _, o in triples)]
    counts = {"pairs_in_training": len(indices)}
    if not indices:
        return counts, []
    return counts, [
        Finding(
            Severity.ERROR if split.answer_kind is AnswerKind.LABEL else Severity.WARNING,
            "pairs-in-training",
            f"{len(indices)} of {len(split)} lines ({percent(len(indices) / len(split))}) ask about a subject and an "
            f"object that occur together in {train.name}",
            "their answers can be looked up",
            "exclude the pairs of the test part from training (split scenarios --exclude-pairs, split remove-leakage)",
            split.file,
            split.line(indices[0]),
            {
                "train": train.name,
                "count": len(indices),
                "lines": [split.line(index) for index in indices[:_NAMED]],
                "texts": [split.queried(index) for index in indices[:_NAMED]],
            },
        )
    ]


def unknown_relations(split: Split, train: Split) -> list[Finding]:
    """Return a finding if the split has relations that no training triple has."""
    known = {relation for triples in train.triples for _, relation, _ in triples}
    unknown = [
        (index, relation)
        for index, triples in enumerate(split.triples)
        for relation in dict.fromkeys(relation for _, relation, _ in triples)
        if relation not in known
    ]
    if not known or not unknown:
        return []
    names = sorted({relation for _, relation in unknown})
    return [
        Finding(
            Severity.WARNING,
            "relation-not-in-training",
            f"{count_noun(len(names), 'relation is', 'relations are')} "
            f"not in {train.name}, on {count_noun(len(unknown), 'line')}: {format_ids(names)}",
            "systems cannot learn these relations; a name may be misspelt",
            "check the names, or state that these relations are new",
            split.file,
            split.line(unknown[0][0]),
            {"train": train.name, "relations": names[:_NAMED], "lines": len(unknown)},
        )
    ]


def shared_facts(split: Split, train: Split) -> tuple[dict[str, Any], list[Finding]]:
    """Return counts of the split's distinct facts and of those that training texts state too, and findings.

    Both are empty unless the task extracts facts from texts.
    """
    if not split.states_facts:
        return {}, []
    facts = {fact for triples in split.triples for fact in triples}
    known = facts & {fact for triples in train.triples for fact in triples}
    counts = {"facts": len(facts), "facts_in_training": len(known)}
    if not known:
        return counts, []
    return counts, [
        Finding(
            Severity.NOTE,
            "facts-in-training",
            f"{len(known)} of {len(facts)} different facts ({percent(len(known) / len(facts))}) occur in {train.name}",
            "a system can know them without reading the text, though other texts often state the same facts",
            "add a slice for facts that are not in training",
            split.file,
            numbers={"train": train.name, **counts},
        )
    ]
