"""link-prediction: predict-with-relation and predict-with-entity (Broscheit et al. 2020)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from evaluator.curation.audit.trivial_baselines.trivial import Trivial
from evaluator.tasks.audit.split import Split, Triple
from evaluator.tasks.link_prediction.layout import ASKED, MAX_RANKED

Counts = dict[tuple[str, ...], Counter[str]]


def systems(split: Split, trains: Sequence[Split]) -> Iterator[Trivial]:
    """Counted in the training files; without them in the questions of the split itself, which are public."""
    known = [triple for train in trains for some in train.triples for triple in some]
    if not known:
        yield _paired(split)
        return
    relations, entities = _counted(known)
    yield _ranked(
        split,
        "predict-with-relation",
        "ranks mentions by how often they stand with the relation in training",
        relations,
        lambda question: (question[1], "head" if question[0] == ASKED else "tail"),
    )
    yield _ranked(
        split,
        "predict-with-entity",
        "ranks mentions by how often they stand with the given mention in training",
        entities,
        lambda question: (question[2] if question[0] == ASKED else question[0],),
    )


def _counted(known: Sequence[Triple]) -> tuple[Counts, Counts]:
    relations: Counts = defaultdict(Counter)
    entities: Counts = defaultdict(Counter)
    for subject, relation, object_ in known:
        relations[relation, "tail"][object_] += 1
        relations[relation, "head"][subject] += 1
        entities[subject,][object_] += 1
        entities[object_,][subject] += 1
    return relations, entities


def _ranked(split: Split, name: str, doc: str, counts: Counts, key: Callable[[Triple], tuple[str, ...]]) -> Trivial:
    ranked: dict[tuple[str, ...], list[str]] = {}

    def lines() -> Iterator[dict[str, Any]]:
        for identifier, question in zip(split.ids, split.gold.questions, strict=True):
            own = key(question)
            if own not in ranked:
                found = counts.get(own, Counter())
                ranked[own] = sorted(found, key=lambda mention: (-found[mention], mention))[:MAX_RANKED]
            yield {"id": identifier, "ranking": ranked[own]}

    return Trivial(name, doc, lines(), "mrr", 0.0, ("hits@1", "hits@10", "hits@50"))


def _paired(split: Split) -> Trivial:
    """(i, k, ?) is answered with the mentions that (?, k, ...) asks with."""
    given: Counts = defaultdict(Counter)
    for subject, relation, object_ in split.gold.questions:
        side = "head" if subject == ASKED else "tail"
        given[relation, "tail" if side == "head" else "head"][object_ if side == "head" else subject] += 1
    return _ranked(
        split,
        "predict-with-questions",
        "ranks the mentions that other questions of the split ask with, by the relation",
        given,
        lambda question: (question[1], "head" if question[0] == ASKED else "tail"),
    )
