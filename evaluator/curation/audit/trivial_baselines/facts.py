"""fact-checking: how often entities stand there, and what training says of each of them alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from evaluator.curation.audit.trivial_baselines.trivial import Trivial
from evaluator.tasks.audit.split import Split, Triple


def systems(split: Split, trains: Sequence[Split]) -> Iterator[Trivial]:
    asked = [some[0] for some in split.triples]
    own = Counter(entity for s, _, o in asked for entity in (s, o))
    pairs = Counter((s, o) for s, _, o in asked)
    yield _system(split, "recurrence", "how often the pair is asked about in this split", lambda t: pairs[t[0], t[2]])
    yield _system(
        split,
        "degree",
        "how often subject and object are asked about in this split",
        lambda t: own[t[0]] + own[t[2]],
    )
    if not trains:
        return
    known = [(some[0], label) for train in trains for some, label in zip(train.triples, train.answers, strict=True)]
    seen = Counter(entity for (s, _, o), _ in known for entity in (s, o))
    yield _system(
        split,
        "popularity",
        "how often subject and object stand in the training files",
        lambda t: seen[t[0]] + seen[t[2]],
    )
    for place, name in ((0, "subject-only"), (1, "relation-only"), (2, "object-only")):
        true = Counter(triple[place] for triple, label in known if label)
        every = Counter(triple[place] for triple, _ in known)
        share = sum(true.values()) / max(sum(every.values()), 1)
        doc = f"the share of true claims in training with the same {name.split('-')[0]}"
        yield _system(split, name, doc, _part(place, true, every, share))


def _part(place: int, true: Counter[str], every: Counter[str], share: float) -> Callable[[Triple], float]:
    return lambda triple: (true[triple[place]] + share) / (every[triple[place]] + 1)


def _system(split: Split, name: str, doc: str, score: Callable[[Triple], float]) -> Trivial:
    def lines() -> Iterator[dict[str, Any]]:
        for identifier, (triple, *_) in zip(split.ids, split.triples, strict=True):
            yield {"id": identifier, "score": float(score(triple))}

    return Trivial(name, doc, lines(), "auroc", 0.5)
