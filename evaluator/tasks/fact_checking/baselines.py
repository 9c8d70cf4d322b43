"""Baselines of fact-checking: a constant, random scores, frequencies of entities, and one part of a claim alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial

from evaluator.tasks.baselines.base import AuditUse, Baseline, BaselineInput, Line
from evaluator.tasks.items.scores import constant, random_scores, score_lines

_PARTS = ("subject", "relation", "object")


def _degree(data: BaselineInput) -> Iterable[Line]:
    counts = Counter(line[name] for line in data.inputs for name in ("subject", "object"))
    return score_lines(data, lambda line: counts[line["subject"]] + counts[line["object"]])


def _recurrence(data: BaselineInput) -> Iterable[Line]:
    counts = Counter((line["subject"], line["object"]) for line in data.inputs)
    return score_lines(data, lambda line: counts[line["subject"], line["object"]])


def _popularity(data: BaselineInput) -> Iterable[Line] | None:
    if not data.train_splits:
        return None
    known = [triples[0] for train in data.train_splits for triples in train.triples]
    counts = Counter(entity for subject, _, object_ in known for entity in (subject, object_))
    return score_lines(data, lambda line: counts[line["subject"]] + counts[line["object"]])


def _one_part(data: BaselineInput, *, part: str) -> Iterable[Line] | None:
    part_index = _PARTS.index(part)
    known = [
        (triples[0][part_index], bool(label))
        for train in data.train_splits
        for triples, label in zip(train.triples, train.answers, strict=True)
    ]
    if not known:
        return None
    true, total = Counter(name for name, label in known if label), Counter(name for name, _ in known)
    share = sum(true.values()) / len(known)
    return score_lines(data, lambda line: (true[line[part]] + share) / (total[line[part]] + 1))


_AUDIT = AuditUse()
BASELINES = (
    Baseline("constant", "the same score for every claim", constant, "auroc", 0.5),
    Baseline("random", "a random score for each claim", random_scores, "auroc", 0.5),
    Baseline("degree", "how often subject and object occur in the inputs", _degree, "auroc", 0.5, audit=_AUDIT),
    Baseline("recurrence", "how often the pair occurs in the inputs", _recurrence, "auroc", 0.5, audit=_AUDIT),
    Baseline(
        "popularity",
        "how often subject and object occur in public gold",
        _popularity,
        "auroc",
        0.5,
        needs="public gold for its counts",
        audit=_AUDIT,
    ),
    *(
        Baseline(
            f"{part}-only",
            f"the share of true claims with the same {part} in public gold",
            partial(_one_part, part=part),
            "auroc",
            0.5,
            needs="public gold for its counts",
            audit=_AUDIT,
        )
        for part in _PARTS
    ),
)
