"""Duplicates within a split, and overlaps with training files."""

from __future__ import annotations

import pytest

from tests.evaluator.curation.audit.splits import audited, claims, codes, facts, split


def test_duplicates_of_claims():
    lines = claims(40)
    assert not codes(audited(split("fact-verification", lines))) & {
        "duplicates-disagree",
        "duplicates-in-other-groups",
        "near-duplicates",
        "duplicates-in-groups",
    }
    lines[7]["claim"] = lines[3]["claim"].upper() + "!"
    lines[7]["label"] = lines[3]["label"]
    report = audited(split("fact-verification", lines))
    assert report["duplicates"]["exact"] == 0
    assert report["duplicates"]["same_words"] == 1
    assert "duplicates-in-other-groups" in codes(report)
    lines[7] |= {"claim": lines[3]["claim"], "label": {"SUPPORTS": "REFUTES"}.get(lines[3]["label"], "SUPPORTS")}
    report = audited(split("fact-verification", lines))
    (finding,) = [found for found in report["findings"] if found["code"] == "duplicates-disagree"]
    assert (finding["severity"], finding["where"]["line"], finding["numbers"]["lines"]) == ("error", 4, [[4, 8]])
    lines[3]["group"] = lines[7]["group"] = "g"
    assert "duplicates-in-groups" in codes(audited(split("fact-verification", lines)))


def test_near_duplicates_in_other_groups():
    lines = claims(40)
    lines[9]["claim"] = lines[2]["claim"] + " more"
    report = audited(split("fact-verification", lines))
    assert report["duplicates"]["near"] == {"pairs": 1, "in_other_groups": 1, "all_found": True}
    assert "near-duplicates" in codes(report)
    lines[9]["group"] = lines[2]["group"] = "g"
    assert "near-duplicates" not in codes(audited(split("fact-verification", lines)))


def test_claims_that_occur_in_training():
    test, train = claims(40, 1), claims(40, 2)
    test_split = split("fact-verification", test)
    assert audited(test_split, train_splits=[split("fact-verification", train)])["overlaps"][0]["thorough"] == 0
    train[0]["claim"] = test[5]["claim"]
    train[1]["claim"] = test[6]["claim"].upper() + "."
    train[2]["claim"] = test[7]["claim"] + " more"
    report = audited(test_split, train_splits=[split("fact-verification", train, "train.jsonl")])
    (overlap,) = report["overlaps"]
    assert (overlap["simple"], overlap["basic"], overlap["thorough"]) == (1, 2, 3)
    severity = {finding["code"]: (finding["severity"], finding["where"]["line"]) for finding in report["findings"]}
    assert severity["leakage-simple"] == ("error", 6)
    assert severity["leakage-basic"] == ("warning", 7)
    assert severity["leakage-thorough"] == ("warning", 8)


def test_triples_that_occur_in_training():
    test, train = facts(60, 1), facts(60, 2)
    test_split = split("fact-checking", test)
    clean = audited(test_split, train_splits=[split("fact-checking", train)])
    assert not codes(clean) & {"pairs-in-training", "leakage-simple", "leakage-basic", "leakage-thorough"}
    ends = ("subject", "object")
    train[0] |= {key: test[3][key] for key in ends}
    train[1] |= {"subject": test[4]["object"], "object": test[4]["subject"]}
    train[2] |= {key: test[5][key] for key in ends} | {"relation": "another"}
    (overlap,) = (report := audited(test_split, train_splits=[split("fact-checking", train)]))["overlaps"]
    assert (overlap["simple"], overlap["basic"], overlap["thorough"], overlap["pairs_in_training"]) == (1, 2, 3, 2)
    assert {"pairs-in-training", "leakage-simple", "leakage-basic", "leakage-thorough"} <= codes(report)
    test[8]["relation"] = "rr"
    report = audited(split("fact-checking", test), train_splits=[split("fact-checking", train)])
    (unknown,) = [found for found in report["findings"] if found["code"] == "relation-not-in-training"]
    assert (unknown["where"]["line"], unknown["numbers"]["relations"]) == (9, ["rr"])


def test_questions_that_training_answers():
    lines = [
        {"id": "a", "question": ["nbc", "office in", "?"], "answers": ["new york", "nyc"], "filtered": []},
        {"id": "b", "question": ["?", "owns", "ship"], "answers": ["line"], "filtered": []},
    ]
    train = [{"id": "t", "question": ["nbc", "office in", "?"], "answers": ["nyc"], "filtered": []}]
    report = audited(split("link-prediction", lines), train_splits=[split("link-prediction", train)])
    assert report["overlaps"][0]["simple"] == 1
    assert "leakage-simple" in codes(report)


@pytest.mark.parametrize("label", ["true", "false"])
def test_one_label(label):
    lines = [line | {"label": label == "true"} for line in facts(30)]
    report = audited(split("fact-checking", lines))
    assert "one-label" in codes(report)
    assert not report["publishable"]
