"""fact-verification: the most frequent label, and what a claim alone, or a sentence alone, gives away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import Any

import numpy as np

from evaluator.curation.audit.trivial_baselines.naive_bayes import Words
from evaluator.curation.audit.trivial_baselines.trivial import Trivial
from evaluator.statistics.random_streams import draws
from evaluator.tasks.audit.split import Split
from evaluator.tasks.fact_verification.layout import LABELS

_FOLDS = 5


def systems(split: Split, trains: Sequence[Split]) -> Iterator[Trivial]:
    labels = [str(label) for label in split.answers]
    trained = [str(label) for train in trains for label in train.answers]
    most = most_frequent(trained or labels)
    majority = max(Counter(labels).values()) / len(labels)
    yield Trivial(
        "majority",
        f"answers {most} to all",
        _lines(split, [most] * len(split)),
        "accuracy",
        shown=_shown(split),
    )
    for name, texts, known in (
        ("claim-only", split.gold.claims, [text for train in trains for text in train.gold.claims]),
        ("evidence-only", split.gold.evidence_texts, [t for train in trains for t in train.gold.evidence_texts]),
    ):
        if None in texts or None in known:
            continue
        if trained:
            how = "trained on the training files"
            words = Words([*known, *texts], [*trained, *labels])
            learnt = np.arange(len(known) + len(texts)) < len(known)
            answers = [words.names[code] for code in words.predicted(learnt)[len(known) :].tolist()]
        else:
            how = f"trained on the split's other groups ({_FOLDS} folds)"
            answers = _crossed(split.groups, texts, labels)
        yield Trivial(
            name,
            f"naive Bayes over words and bigrams of the {name.split('-')[0]}, {how}",
            _lines(split, answers),
            "accuracy",
            majority,
            _shown(split),
        )


def most_frequent(labels: Sequence[str]) -> str:
    """Of labels that are as frequent the first of the task's, whatever the order of the file; without any, SUPPORTS."""
    count = Counter(label.upper() for label in labels)
    return max(LABELS, key=lambda label: count[label])


def _shown(split: Split) -> tuple[str, ...]:
    return ("fever_score",) if split.gold.has_evidence else ()


def _lines(split: Split, answers: Sequence[str]) -> Iterator[dict[str, Any]]:
    for name, answer in zip(split.ids, answers, strict=True):
        yield {"id": name, "predicted_label": answer, "predicted_evidence": []}


def _crossed(groups: Sequence[Hashable], texts: Sequence[str], labels: Sequence[str]) -> list[str]:
    """Each group is answered from the others."""
    names = list(dict.fromkeys(groups))
    draws(0, "folds").shuffle(names)
    fold = {name: place % _FOLDS for place, name in enumerate(names)}
    folds = np.array([fold[group] for group in groups])
    words = Words(texts, labels)
    found = np.zeros(len(texts), dtype=np.int64)
    for one in range(min(_FOLDS, len(names))):
        asked = folds == one
        found[asked] = words.predicted(asked if asked.all() else ~asked)[asked]
    return [words.names[code] for code in found.tolist()]
