"""Baselines of link-prediction: random mentions, and frequent mentions by relation or by the given mention.

They follow Broscheit et al. 2020.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from evaluator.tasks.audit.split import Triple
from evaluator.tasks.baselines.base import AuditUse, Baseline, BaselineInput, Line
from evaluator.tasks.link_prediction.layout import MAX_RANKED, QUERY_MARKER

Key = tuple[str, ...]
Counts = dict[Key, Counter[str]]
MOST_RANKED = 4_000_000
"""The maximum number of mentions in all rankings of a file, so that the file stays within a phase's size limit. For
20,000 questions, that is 200 mentions each."""


def _most(data: BaselineInput) -> int:
    if data.own is not None:  # audits store no file
        return MAX_RANKED
    return max(1, min(MAX_RANKED, MOST_RANKED // max(1, len(data.inputs))))


def _side(question: Triple) -> str:
    return "head" if question[0] == QUERY_MARKER else "tail"


def _random(data: BaselineInput) -> Iterable[Line]:
    mentions = sorted(
        {part for line in data.inputs for part in (line["question"][0], line["question"][2])} - {QUERY_MARKER}
    )
    rng = data.rng("random")
    most = min(_most(data), len(mentions))
    for line in data.inputs:
        yield {"id": line["id"], "ranking": rng.sample(mentions, most)}


def _by_questions(data: BaselineInput) -> Iterable[Line] | None:
    """Answer (i, k, ?) with the mentions j of questions (?, k, j), and (?, k, j) with the i of questions (i, k, ?).

    None in an audit with public gold: the audit then shows the baselines that learn from public gold instead.
    """
    if data.own is not None and _known(data):  # audits show the baselines from public gold instead
        return None
    counts: Counts = defaultdict(Counter)
    for line in data.inputs:
        subject, relation, object_ = line["question"]
        if subject == QUERY_MARKER:
            counts[relation, "tail"][object_] += 1
        else:
            counts[relation, "head"][subject] += 1
    return _ranked(data, counts, lambda question: (question[1], _side(question)))


def _by_relation(data: BaselineInput) -> Iterable[Line] | None:
    counts: Counts = defaultdict(Counter)
    for subject, relation, object_ in _known(data):
        counts[relation, "tail"][object_] += 1
        counts[relation, "head"][subject] += 1
    return _ranked(data, counts, lambda question: (question[1], _side(question))) if counts else None


def _by_entity(data: BaselineInput) -> Iterable[Line] | None:
    counts: Counts = defaultdict(Counter)
    for subject, _, object_ in _known(data):
        counts[subject,][object_] += 1
        counts[object_,][subject] += 1
    return (
        _ranked(data, counts, lambda question: (question[2 if question[0] == QUERY_MARKER else 0],)) if counts else None
    )


def _known(data: BaselineInput) -> list[Triple]:
    return [triple for train in data.train_splits for triples in train.triples for triple in triples]


def _ranked(data: BaselineInput, counts: Counts, key: Callable[[Triple], Key]) -> Iterable[Line]:
    ranked: dict[Key, list[str]] = {}
    most = _most(data)
    for line in data.inputs:
        question_key = key(tuple(line["question"]))
        if question_key not in ranked:
            counter = counts.get(question_key, Counter())
            ranked[question_key] = sorted(counter, key=lambda mention: (-counter[mention], mention))[:most]
        yield {"id": line["id"], "ranking": ranked[question_key]}


_AUDIT = AuditUse(lambda split: 0.0, ("hits@1", "hits@10", "hits@50"))
BASELINES = (
    Baseline("random", "the mentions in the questions of the inputs, in random order", _random, "mrr"),
    Baseline(
        "by-questions",
        "the mentions in other questions of the inputs with the same relation",
        _by_questions,
        "mrr",
        reference="random",
        audit=_AUDIT,
    ),
    Baseline(
        "by-relation",
        "the mentions that occur most often with the relation in public gold",
        _by_relation,
        "mrr",
        reference="random",
        needs="public gold for its counts",
        audit=_AUDIT,
    ),
    Baseline(
        "by-entity",
        "the mentions that occur most often with the given mention in public gold",
        _by_entity,
        "mrr",
        reference="random",
        needs="public gold for its counts",
        audit=_AUDIT,
    ),
)
