"""fact-extraction: what training knows of the subject, whatever the text says. metric-correlation: a text's length."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from evaluator.curation.audit.trivial_baselines.trivial import Trivial
from evaluator.tasks.audit.split import Split, Triple


def fact_systems(split: Split, trains: Sequence[Split]) -> Iterator[Trivial]:
    known: dict[str, set[Triple]] = defaultdict(set)
    for train in trains:
        for some in train.triples:
            for fact in some:
                known[fact[0]].add(fact)
    subjects = [line.subject for line in split.gold.inputs]
    if not known or all(subject is msgspec.UNSET for subject in subjects):
        return

    def lines() -> Iterator[dict[str, Any]]:
        for name, subject in zip(split.ids, subjects, strict=True):
            facts = sorted(known.get(subject, ())) if isinstance(subject, str) else []
            yield {"id": name, "facts": facts}

    doc = "gives the facts that the training files have of the text's subject, without reading the text"
    yield Trivial("known-facts", doc, lines(), "f1", 0.0, ("precision", "recall", "fact_acc"))


def metric_systems(split: Split, trains: Sequence[Split]) -> Iterator[Trivial]:
    texts = [text.generated for text in split.gold.texts]
    if msgspec.UNSET in texts:
        return

    def lines() -> Iterator[dict[str, Any]]:
        for name, text in zip(split.ids, texts, strict=True):
            yield {"id": name, "score": float(len(str(text).split()))}

    yield Trivial("length", "scores a text by its number of words", lines(), "spearman", 0.0, ("pearson", "kendall"))
