"""What a training file tells of triples: by the rules of leakage removal, by pairs, by whole facts, by relations."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evaluator.curation.open_triples.leakage import Leakage, Level
from evaluator.curation.open_triples.token_sets import Normaliser, TokenCounts
from evaluator.curation.open_triples.triples import OpenTriple
from evaluator.jsonl.ids import listed
from evaluator.tasks.audit.findings import Finding, Severity, percent
from evaluator.tasks.audit.split import AnswerKind, Split, Triple
from evaluator.text import counted

_NAMED = 10


def leaking(split: Split, train: Split) -> dict[int, int]:
    """Place in the training file: level."""
    rows = [(place, triple) for place, some in enumerate(train.triples) for triple in some if _has_words(triple)]
    counts = TokenCounts()
    counts.add([triple for _, triple in rows])
    leakage = Leakage(_evaluated(split), Normaliser(counts.stop_words().all))
    rules = leakage.rules([triple for _, triple in rows])
    found: dict[int, int] = {}
    for (place, _), rule in zip(rows, rules, strict=True):
        if rule:
            level = 0 if rule <= Level.SIMPLE else 1 if rule <= Level.BASIC else 2
            found[place] = min(level, found.get(place, level))
    return found


def _has_words(triple: Triple) -> bool:
    """What lacks a part is told elsewhere, and says nothing that could leak."""
    return all(part.strip() for part in triple)


def _evaluated(split: Split) -> Iterable[OpenTriple]:
    return [OpenTriple(*triple) for triple in split.asked_triples or () if _has_words(triple[:3])]


def shared_pairs(split: Split, train: Split) -> tuple[dict[str, Any], list[Finding]]:
    """Lines of the split whose subject and object stand together in training, under any relation."""
    known = {(s, o) for some in train.triples for s, _, o in some}
    found = [place for place, some in enumerate(split.triples) if any((s, o) in known for s, _, o in some)]
    told = {"pairs_in_training": len(found)}
    if not found:
        return told, []
    return told, [
        Finding(
            Severity.ERROR if split.answer_kind is AnswerKind.LABEL else Severity.WARNING,
            "pairs-in-training",
            f"{len(found)} of {len(split)} lines ({percent(len(found) / len(split))}) ask about a subject and an "
            f"object that stand together in {train.name}",
            "their answers can be looked up",
            "draw the training part apart from the test part (split scenarios --apart-from, split leakage)",
            split.file,
            split.line(found[0]),
            {
                "train": train.name,
                "count": len(found),
                "lines": [split.line(place) for place in found[:_NAMED]],
                "texts": [split.asked(place) for place in found[:_NAMED]],
            },
        )
    ]


def strange_relations(split: Split, train: Split) -> list[Finding]:
    known = {relation for some in train.triples for _, relation, _ in some}
    strange = [
        (place, relation)
        for place, some in enumerate(split.triples)
        for relation in dict.fromkeys(relation for _, relation, _ in some)
        if relation not in known
    ]
    if not known or not strange:
        return []
    names = sorted({relation for _, relation in strange})
    return [
        Finding(
            Severity.WARNING,
            "relation-not-in-training",
            f"{counted(len(names), 'relation is', 'relations are')} "
            f"not in {train.name}, on {counted(len(strange), 'line')}: {listed(names)}",
            "nothing can be learnt of them; a name may be misspelt",
            "check the names, or say that relations are new",
            split.file,
            split.line(strange[0][0]),
            {"train": train.name, "relations": names[:_NAMED], "lines": len(strange)},
        )
    ]


def shared_facts(split: Split, train: Split) -> tuple[dict[str, Any], list[Finding]]:
    """For tasks that read facts out of texts: those that training texts state too."""
    if not split.states_facts:
        return {}, []
    facts = {fact for some in split.triples for fact in some}
    known = facts & {fact for some in train.triples for fact in some}
    told = {"facts": len(facts), "facts_in_training": len(known)}
    if not known:
        return told, []
    return told, [
        Finding(
            Severity.NOTE,
            "facts-in-training",
            f"{len(known)} of {len(facts)} different facts ({percent(len(known) / len(facts))}) stand in {train.name}",
            "they can be known without reading the text; other texts may well state the same facts",
            "show a slice of facts that training does not have",
            split.file,
            numbers={"train": train.name, **told},
        )
    ]
