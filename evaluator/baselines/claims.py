"""fact-verification: one label for all, a drawn one, and what a claim or a sentence alone gives away."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from evaluator.baselines.base import Asked, Baseline, Line
from evaluator.curation.audit.trivial_baselines.claims import most_frequent
from evaluator.curation.audit.trivial_baselines.naive_bayes import Words
from evaluator.tasks.fact_verification.layout import LABELS


def _majority(asked: Asked) -> Iterable[Line]:
    return _lines(asked, [most_frequent(_labels(asked))] * len(asked.inputs))


def _random(asked: Asked) -> Iterable[Line]:
    rng = asked.draws("random")
    there = sorted(set(_labels(asked))) or LABELS
    return _lines(asked, [rng.choice(there) for _ in asked.inputs])


def _claim_only(asked: Asked) -> Iterable[Line] | None:
    known = [claim for train in asked.trains for claim in train.gold.claims]
    return _bayes(asked, known, [line["claim"] for line in asked.inputs])


def _evidence_only(asked: Asked) -> Iterable[Line] | None:
    known = [text for train in asked.trains for text in train.gold.evidence_texts]
    return _bayes(asked, known, [line.get("evidence_text") for line in asked.inputs])


def _bayes(asked: Asked, known: Sequence[str | None], texts: Sequence[str | None]) -> Iterable[Line] | None:
    if not known or not texts or None in known or None in texts:
        return None
    labels = _labels(asked)
    both = [text or "" for text in (*known, *texts)]
    words = Words(both, [*labels, *labels[:1] * len(texts)])
    learnt = np.arange(len(both)) < len(known)
    return _lines(asked, [words.names[code] for code in words.predicted(learnt)[len(known) :].tolist()])


def _labels(asked: Asked) -> list[str]:
    return [str(label) for train in asked.trains for label in train.answers]


def _lines(asked: Asked, labels: Sequence[str]) -> Iterable[Line]:
    for line, label in zip(asked.inputs, labels, strict=True):
        yield {"id": line["id"], "predicted_label": label, "predicted_evidence": []}


BASELINES = (
    Baseline(
        "majority",
        "the most frequent label of training for every claim; without training SUPPORTS",
        _majority,
        "accuracy",
    ),
    Baseline("random", "a label drawn for each claim, each of them as often", _random, "accuracy", beside="majority"),
    Baseline(
        "claim-only",
        "naive Bayes over words and bigrams of the claim, trained on public gold",
        _claim_only,
        "accuracy",
        beside="majority",
        needs="public gold to train on",
    ),
    Baseline(
        "evidence-only",
        "the same over the given sentence, without the claim",
        _evidence_only,
        "accuracy",
        beside="majority",
        needs="public gold with sentences, and sentences in the inputs",
    ),
)
