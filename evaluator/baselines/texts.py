"""fact-extraction: nothing, and what public gold knows of the subject. metric-correlation: scores that read no text."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from evaluator.baselines.base import Asked, Baseline, Line
from evaluator.tasks.audit.split import Triple


def _no_facts(asked: Asked) -> Iterable[Line]:
    for line in asked.inputs:
        yield {"id": line["id"], "facts": []}


def _known_facts(asked: Asked) -> Iterable[Line] | None:
    known: dict[str, set[Triple]] = defaultdict(set)
    for train in asked.trains:
        for some in train.triples:
            for fact in some:
                known[fact[0]].add(fact)
    if not known or not any("subject" in line for line in asked.inputs):
        return None
    return ({"id": line["id"], "facts": sorted(known.get(line.get("subject", ""), ()))} for line in asked.inputs)


def _commonest_fact(asked: Asked) -> Iterable[Line] | None:
    """Whoever the subject is: for each relation its most frequent object."""
    objects: dict[str, Counter[str]] = defaultdict(Counter)
    for train in asked.trains:
        for some in train.triples:
            for _, relation, object_ in some:
                objects[relation][object_] += 1
    if not objects or not any("subject" in line for line in asked.inputs):
        return None
    most = {name: min(found, key=lambda one: (-found[one], one)) for name, found in sorted(objects.items())}
    return (
        {"id": line["id"], "facts": [[line["subject"], *pair] for pair in most.items()] if "subject" in line else []}
        for line in asked.inputs
    )


def _length(asked: Asked) -> Iterable[Line] | None:
    if not all("generated" in line for line in asked.inputs):
        return None
    return _scored(asked, lambda line: len(line["generated"].split()))


def _overlap(asked: Asked) -> Iterable[Line] | None:
    if not all("generated" in line and "reference" in line for line in asked.inputs):
        return None
    return _scored(asked, lambda line: _shared(line["generated"].lower().split(), line["reference"].lower().split()))


def _shared(words: list[str], others: list[str]) -> float:
    both = Counter(words) & Counter(others)
    return both.total() / len(words) if words else 0.0


def _constant(asked: Asked) -> Iterable[Line]:
    return _scored(asked, lambda line: 0.5)


def _random(asked: Asked) -> Iterable[Line]:
    rng = asked.draws("random")
    return _scored(asked, lambda line: rng.random())


def _scored(asked: Asked, score: Callable[[Line], float]) -> Iterable[Line]:
    for line in asked.inputs:
        yield {"id": line["id"], "score": float(score(line))}


FACTS = (
    Baseline("nothing", "no fact of any text", _no_facts, "f1", 0.0),
    Baseline(
        "commonest-facts",
        "each relation's most frequent object in public gold, whatever the text says",
        _commonest_fact,
        "f1",
        0.0,
        needs="public gold, and subjects in the inputs",
    ),
    Baseline(
        "known-facts",
        "what public gold has of the text's subject, whatever the text says",
        _known_facts,
        "f1",
        0.0,
        needs="public gold, and subjects in the inputs",
    ),
)
METRICS = (
    Baseline("constant", "the same score for every text", _constant, "spearman", 0.0),
    Baseline("random", "a score drawn for each text", _random, "spearman", 0.0),
    Baseline("length", "the number of words of the text", _length, "spearman", 0.0, needs="texts in the inputs"),
    Baseline(
        "overlap",
        "the share of the text's words that its reference has",
        _overlap,
        "spearman",
        0.0,
        needs="texts and references in the inputs",
    ),
)
