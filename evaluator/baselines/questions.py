"""link-prediction: what mentions often are, for the relation or beside the given one (Broscheit et al. 2020)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from evaluator.baselines.base import Asked, Baseline, Line
from evaluator.tasks.audit.split import Triple
from evaluator.tasks.link_prediction.layout import ASKED, MAX_RANKED

Key = tuple[str, ...]
Counts = dict[Key, Counter[str]]
MOST_RANKED = 4_000_000
"""Mentions in all: with 20,000 questions each has 200, and their file stays within what a phase takes."""


def _most(asked: Asked) -> int:
    return max(1, min(MAX_RANKED, MOST_RANKED // max(1, len(asked.inputs))))


def _side(question: Triple) -> str:
    return "head" if question[0] == ASKED else "tail"


def _random(asked: Asked) -> Iterable[Line]:
    mentions = sorted({part for line in asked.inputs for part in (line["question"][0], line["question"][2])} - {ASKED})
    rng = asked.draws("random")
    most = min(_most(asked), len(mentions))
    for line in asked.inputs:
        yield {"id": line["id"], "ranking": rng.sample(mentions, most)}


def _by_questions(asked: Asked) -> Iterable[Line]:
    """(i, k, ?) is answered with the mentions that (?, k, ...) asks with."""
    counts: Counts = defaultdict(Counter)
    for line in asked.inputs:
        subject, relation, object_ = line["question"]
        if subject == ASKED:
            counts[relation, "tail"][object_] += 1
        else:
            counts[relation, "head"][subject] += 1
    return _ranked(asked, counts, lambda question: (question[1], _side(question)))


def _by_relation(asked: Asked) -> Iterable[Line] | None:
    counts: Counts = defaultdict(Counter)
    for subject, relation, object_ in _known(asked):
        counts[relation, "tail"][object_] += 1
        counts[relation, "head"][subject] += 1
    return _ranked(asked, counts, lambda question: (question[1], _side(question))) if counts else None


def _by_entity(asked: Asked) -> Iterable[Line] | None:
    counts: Counts = defaultdict(Counter)
    for subject, _, object_ in _known(asked):
        counts[subject,][object_] += 1
        counts[object_,][subject] += 1
    return _ranked(asked, counts, lambda question: (question[2 if question[0] == ASKED else 0],)) if counts else None


def _known(asked: Asked) -> list[Triple]:
    return [triple for train in asked.trains for some in train.triples for triple in some]


def _ranked(asked: Asked, counts: Counts, key: Callable[[Triple], Key]) -> Iterable[Line]:
    ranked: dict[Key, list[str]] = {}
    most = _most(asked)
    for line in asked.inputs:
        own = key(tuple(line["question"]))
        if own not in ranked:
            found = counts.get(own, Counter())
            ranked[own] = sorted(found, key=lambda mention: (-found[mention], mention))[:most]
        yield {"id": line["id"], "ranking": ranked[own]}


BASELINES = (
    Baseline("random", "the mentions that the inputs ask with, in a drawn order", _random, "mrr"),
    Baseline(
        "by-questions",
        "the mentions that other questions of the inputs ask with, by the relation",
        _by_questions,
        "mrr",
        beside="random",
    ),
    Baseline(
        "by-relation",
        "the mentions that stand most often with the relation in public gold",
        _by_relation,
        "mrr",
        beside="random",
        needs="public gold to count in",
    ),
    Baseline(
        "by-entity",
        "the mentions that stand most often with the given one in public gold",
        _by_entity,
        "mrr",
        beside="random",
        needs="public gold to count in",
    ),
)
