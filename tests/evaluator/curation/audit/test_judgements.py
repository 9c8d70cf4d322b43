"""Judgements that disagree with gold, and names shared with training."""

from __future__ import annotations

import random

from evaluator.curation.audit.annotators.judgement_files import Judgements
from tests.evaluator.curation.audit.splits import audited, claims, codes, split

KINDS = {"judgements-of-another-kind", "judgements-of-unknown-labels", "annotator-against-gold"}
OTHER = {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}


def codes_of(task, lines, rows, scores=False):
    judged = Judgements(rows, scores)
    return codes(audited(split(task, lines), judgements=judged, judgements_file="judged.jsonl")) & KINDS


def test_labels_compared_with_gold():
    lines, rng = claims(40), random.Random(1)
    agreeing = [(line["id"], "a", line["label"].lower()) for line in lines]
    random_labels = [(line["id"], "b", rng.choice(["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"])) for line in lines]
    assert codes_of("fact-verification", lines, agreeing + random_labels) == set()
    inverted = [(line["id"], "c", OTHER[line["label"]]) for line in lines]
    assert codes_of("fact-verification", lines, agreeing + inverted) == {"annotator-against-gold"}
    unknown = [(lines[0]["id"], "d", "MAYBE")]
    assert codes_of("fact-verification", lines, agreeing + unknown) == {"judgements-of-unknown-labels"}
    assert codes_of("fact-verification", lines, [(line["id"], "a", 1.0) for line in lines], scores=True) == {
        "judgements-of-another-kind"
    }


def test_scores_compared_with_gold():
    lines = [{"id": i, "human": i % 7, "generated": f"text {i}"} for i in range(40)]
    agreeing = [(line["id"], "a", 10 + line["human"] ** 2) for line in lines]
    assert codes_of("metric-correlation", lines, agreeing, scores=True) == set()
    inverted = [(line["id"], "b", -line["human"]) for line in lines]
    assert codes_of("metric-correlation", lines, agreeing + inverted, scores=True) == {"annotator-against-gold"}
    assert codes_of("metric-correlation", lines, [(0, "a", "good")]) == {"judgements-of-another-kind"}


def test_names_shared_with_training():
    names = {"ids-in-training", "groups-in-training", "evidence-in-training"}
    test, train = claims(30, 1), claims(30, 2)
    for i, line in enumerate(test):
        line |= {"group": f"g{i // 3}", "evidence_text": f"one {i}"}
    for i, line in enumerate(train):
        line |= {"group": f"h{i // 3}", "evidence_text": f"two {i}"}

    def shared():
        trains = [split("fact-verification", train, "train.jsonl")]
        report = audited(split("fact-verification", test), train_splits=trains)
        return {
            finding["code"]: (finding["severity"], finding["where"]["line"])
            for finding in report["findings"]
            if finding["code"] in names
        }

    assert shared() == {}
    train[3]["id"] = test[4]["id"]
    assert shared() == {"ids-in-training": ("warning", 5)}
    train[3]["group"] = "g2"
    train[4]["evidence_text"] = "One 9."
    assert shared() == {
        "ids-in-training": ("warning", 5),
        "groups-in-training": ("warning", 7),
        "evidence-in-training": ("warning", 10),
    }
