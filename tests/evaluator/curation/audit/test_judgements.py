"""Judgements that do not go with gold, and names that training shares."""

from __future__ import annotations

import random

from evaluator.curation.audit.annotators.agreement import Judgements
from tests.evaluator.curation.audit.splits import audited, claims, codes, split

KINDS = {"judgements-of-another-kind", "judgements-of-unknown-labels", "annotator-against-gold"}
OTHER = {"SUPPORTS": "REFUTES", "REFUTES": "SUPPORTS"}


def found(task, lines, rows, scores=False):
    judged = Judgements(rows, scores)
    return codes(audited(split(task, lines), judgements=judged, judgements_file="judged.jsonl")) & KINDS


def test_labels_beside_gold():
    lines, rng = claims(40), random.Random(1)
    right = [(line["id"], "a", line["label"].lower()) for line in lines]
    drawn = [(line["id"], "b", rng.choice(["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"])) for line in lines]
    assert found("fact-verification", lines, right + drawn) == set()
    turned = [(line["id"], "c", OTHER[line["label"]]) for line in lines]
    assert found("fact-verification", lines, right + turned) == {"annotator-against-gold"}
    strange = [(lines[0]["id"], "d", "MAYBE")]
    assert found("fact-verification", lines, right + strange) == {"judgements-of-unknown-labels"}
    assert found("fact-verification", lines, [(line["id"], "a", 1.0) for line in lines], scores=True) == {
        "judgements-of-another-kind"
    }


def test_scores_beside_gold():
    lines = [{"id": place, "human": place % 7, "generated": f"text {place}"} for place in range(40)]
    right = [(line["id"], "a", 10 + line["human"] ** 2) for line in lines]
    assert found("metric-correlation", lines, right, scores=True) == set()
    turned = [(line["id"], "b", -line["human"]) for line in lines]
    assert found("metric-correlation", lines, right + turned, scores=True) == {"annotator-against-gold"}
    assert found("metric-correlation", lines, [(0, "a", "good")]) == {"judgements-of-another-kind"}


def test_names_that_training_has():
    names = {"ids-in-training", "groups-in-training", "evidence-in-training"}
    test, train = claims(30, 1), claims(30, 2)
    for place, line in enumerate(test):
        line |= {"group": f"g{place // 3}", "evidence_text": f"one {place}"}
    for place, line in enumerate(train):
        line |= {"group": f"h{place // 3}", "evidence_text": f"two {place}"}

    def shared():
        trains = [split("fact-verification", train, "train.jsonl")]
        report = audited(split("fact-verification", test), trains=trains)
        return {
            one["code"]: (one["severity"], one["where"]["line"]) for one in report["findings"] if one["code"] in names
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
