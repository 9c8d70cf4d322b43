"""From a task's gold to the columns that the checks look at: one function a task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from typing import Any

import msgspec

from evaluator.curation.audit.split import Secret, Split, Triple
from evaluator.curation.text_stats.ngrams import tokens
from evaluator.tasks.fact_verification.layout import LABELS
from evaluator.tasks.link_prediction.layout import ASKED

VISIBLE = {"fact-checking": {"relation"}, "link-prediction": {"side"}}
"""Dimensions that the public inputs show, so that nothing hides there."""

_ORIGIN = "origin"


def view(task: Any, file: str, gold: Any) -> Split:
    """gold: as the task has read it."""
    split = _VIEWS[task.name](task, file, gold)
    split.secrets += _hidden_slices(split)
    return split


def _fact_verification(task: Any, file: str, gold: Any) -> Split:
    labels = [LABELS[code] for code in gold.labels]
    asked = list(zip(gold.claims, gold.evidence_texts, strict=True))
    return Split(
        task=task,
        file=file,
        gold=gold,
        ids=list(gold.ids),
        groups=gold.groups,
        slices=gold.slices,
        questions=list(asked),
        texts=[f"{claim} {evidence or ''}" for claim, evidence in asked],
        answers=list(labels),
        secrets=[Secret("label", labels)],
    )


def _fact_checking(task: Any, file: str, gold: Any) -> Split:
    triples: list[Triple] = [(claim.subject, claim.relation, claim.object) for claim in gold.claims]
    return Split(
        task=task,
        file=file,
        gold=gold,
        ids=list(gold.ids),
        groups=gold.groups,
        slices=gold.slices,
        questions=list(triples),
        texts=[],
        answers=list(gold.labels),
        secrets=[Secret("label", ["true" if label else "false" for label in gold.labels])],
        triples=[[triple] for triple in triples],
    )


def _link_prediction(task: Any, file: str, gold: Any) -> Split:
    triples = [
        [tuple(answer if part == ASKED else part for part in question) for answer in answers]
        for question, (answers, _) in zip(gold.questions, gold.mentions, strict=True)
    ]
    first = [answers[0] if answers else None for answers, _ in gold.mentions]
    return Split(
        task=task,
        file=file,
        gold=gold,
        ids=list(gold.ids),
        groups=gold.groups,
        slices=gold.slices,
        questions=list(gold.questions),
        texts=[],
        answers=[frozenset(answers) for answers, _ in gold.mentions],
        secrets=[Secret("answer", first)],
        triples=triples,
    )


def _knowledge_base_population(task: Any, file: str, gold: Any) -> Split:
    facts = [[fact for passage in line.passages for fact in passage.facts] for line in gold.lines]
    texts = [line.documentText for line in gold.lines]
    commonest = Counter(fact.propertyId for some in facts for fact in some)
    rarest = [min((f.propertyId for f in some), key=lambda name: (commonest[name], name), default="") for some in facts]
    return Split(
        task=task,
        file=file,
        gold=gold,
        ids=list(gold.documents),
        groups=gold.groups,
        slices=gold.slices,
        questions=list(texts),
        texts=texts,
        answers=[_facts_told(some) for some in facts],
        secrets=[
            Secret("number of facts", [float(len(some)) for some in facts]),
            Secret("property", rarest),
        ],
        triples=[[(f.subjectUri, f.propertyId, f.objectUri) for f in some if f.objectUri] for some in facts],
    )


def _facts_told(facts: list[Any]) -> Hashable:
    return frozenset((f.propertyId, f.subjectStart, f.subjectEnd, f.objectStart, f.objectEnd) for f in facts)


def _fact_extraction(task: Any, file: str, gold: Any) -> Split:
    texts = [_text(line.text) for line in gold.inputs]
    asked: list[Hashable] = [
        (text, _text(line.subject)) if text else None for text, line in zip(texts, gold.inputs, strict=True)
    ]
    commonest = Counter(fact[1] for some in gold.facts for fact in some)
    rarest = [min((f[1] for f in some), key=lambda name: (commonest[name], name), default="") for some in gold.facts]
    return Split(
        task=task,
        file=file,
        gold=gold,
        ids=list(gold.ids),
        groups=gold.groups,
        slices=gold.slices,
        questions=asked,
        texts=texts if any(texts) else [],
        answers=list(gold.facts),
        secrets=[
            Secret("number of facts", [float(len(some)) for some in gold.facts]),
            Secret("relation", rarest),
        ],
        triples=[sorted(some) for some in gold.facts],
    )


def _metric_correlation(task: Any, file: str, gold: Any) -> Split:
    texts = [_text(text.generated) for text in gold.texts]
    asked: list[Hashable] = [
        (text, _text(line.reference)) if text else None for text, line in zip(texts, gold.texts, strict=True)
    ]
    secrets = [Secret("rating", [float(rating) for rating in gold.ratings])]
    if any(system is not None for system in gold.systems):
        names = [None if system is None else str(system) for system in gold.systems]
        secrets.append(Secret("system", names, answer=False, grave=False))
    return Split(
        task=task,
        file=file,
        gold=gold,
        ids=list(gold.ids),
        groups=gold.groups,
        slices=gold.slices,
        questions=asked,
        texts=texts if any(texts) else [],
        answers=list(gold.ratings),
        secrets=secrets,
    )


def _text(value: Any) -> str:
    return "" if value is msgspec.UNSET or not tokens(value) else str(value)


def _hidden_slices(split: Split) -> list[Secret]:
    """Which member of its group a line is. Other slices say how a line was chosen, not what is right."""
    values = split.column(_ORIGIN)
    if all(value is None for value in values):
        return []
    return [Secret(_ORIGIN, [None if value is None else str(value) for value in values], answer=False)]


_VIEWS: dict[str, Callable[[Any, str, Any], Split]] = {
    "fact-verification": _fact_verification,
    "fact-checking": _fact_checking,
    "link-prediction": _link_prediction,
    "knowledge-base-population": _knowledge_base_population,
    "fact-extraction": _fact_extraction,
    "metric-correlation": _metric_correlation,
}
