"""Baselines of fact-extraction: no facts, and facts from public gold regardless of the text."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from evaluator.tasks.audit.split import Triple
from evaluator.tasks.baselines.base import AuditUse, Baseline, BaselineInput, Line


def _no_facts(data: BaselineInput) -> Iterable[Line]:
    for line in data.inputs:
        yield {"id": line["id"], "facts": []}


def _known_facts(data: BaselineInput) -> Iterable[Line] | None:
    known: dict[str, set[Triple]] = defaultdict(set)
    for train in data.train_splits:
        for facts in train.triples:
            for fact in facts:
                known[fact[0]].add(fact)
    if not known or not any("subject" in line for line in data.inputs):
        return None
    return ({"id": line["id"], "facts": sorted(known.get(line.get("subject", ""), ()))} for line in data.inputs)


def _commonest_fact(data: BaselineInput) -> Iterable[Line] | None:
    """Predict for each text one fact per relation: the relation's most frequent object in public gold.

    Texts whose line in the inputs names no subject get no facts. None if there is no public gold with facts, or if no
    line names a subject.
    """
    objects: dict[str, Counter[str]] = defaultdict(Counter)
    for train in data.train_splits:
        for facts in train.triples:
            for _, relation, object_ in facts:
                objects[relation][object_] += 1
    if not objects or not any("subject" in line for line in data.inputs):
        return None
    most_frequent = {
        name: min(counts, key=lambda object_: (-counts[object_], object_)) for name, counts in sorted(objects.items())
    }
    return (
        {
            "id": line["id"],
            "facts": [[line["subject"], *pair] for pair in most_frequent.items()] if "subject" in line else [],
        }
        for line in data.inputs
    )


BASELINES = (
    Baseline("nothing", "no facts for any text", _no_facts, "f1", 0.0),
    Baseline(
        "commonest-facts",
        "each relation's most frequent object in public gold, independent of the text",
        _commonest_fact,
        "f1",
        0.0,
        needs="public gold, and subjects in the inputs",
    ),
    Baseline(
        "known-facts",
        "the facts about the text's subject in public gold, independent of the text",
        _known_facts,
        "f1",
        0.0,
        needs="public gold, and subjects in the inputs",
        audit=AuditUse(shown=("precision", "recall", "fact_acc")),
    ),
)
