"""Public inputs compared with gold: leaked gold, missing lines and changed texts."""

from __future__ import annotations

import json

import pytest

from evaluator.curation.audit.public_inputs import read_public_inputs
from evaluator.errors import InputsError
from tests.evaluator.curation.audit.splits import audited, claims, codes, document, fact, facts, split, stream

TASKS = {
    "fact-verification": claims(30),
    "fact-checking": facts(30),
    "link-prediction": [
        {"id": f"q{n}", "question": ["x", f"r{n}", "?"], "answers": [f"a{n}"], "filtered": []} for n in range(30)
    ],
    "knowledge-base-population": [document(f"d{n}", "Ann leads Acme", [fact((0, 3), (10, 14))]) for n in range(30)],
    "fact-extraction": [{"id": f"t{n}", "text": f"x{n}", "facts": [["x", "r", f"x{n}"]]} for n in range(30)],
    "metric-correlation": [{"id": f"t{n}", "human": n % 7, "generated": f"x{n}"} for n in range(30)],
}
LEAKS = {
    "fact-verification": {"label": "SUPPORTS"},
    "fact-checking": {"label": True},
    "link-prediction": {"answers": ["a"]},
    "knowledge-base-population": {"slices": {"topic": "x"}},
    "fact-extraction": {"facts": []},
    "metric-correlation": {"human": 3},
}


def public_lines(gold_split):
    return [json.loads(line) for line in gold_split.task.public_inputs(gold_split.gold).splitlines()]


def findings_of(gold_split, lines):
    return {finding.code: finding for finding in read_public_inputs(gold_split, stream(lines), "inputs.jsonl").findings}


@pytest.mark.parametrize("task", TASKS)
def test_generated_inputs_are_clean_and_each_problem_is_an_error(task):
    gold_split = split(task, TASKS[task])
    lines = public_lines(gold_split)
    assert findings_of(gold_split, lines) == {}
    assert "inputs-hold-gold" in findings_of(gold_split, [lines[0] | LEAKS[task], *lines[1:]])
    assert "inputs-hold-gold" in findings_of(gold_split, [lines[0] | {"group": 1}, *lines[1:]])
    assert findings_of(gold_split, lines[1:])["gold-without-inputs"].numbers["count"] == 1
    key = "documentId" if task == "knowledge-base-population" else "id"
    with_unknown_line = findings_of(gold_split, [*lines, lines[0] | {key: "nobody"}])
    assert with_unknown_line["inputs-without-gold"].line == len(lines) + 1
    assert all(finding.severity.value == "error" for finding in with_unknown_line.values())


def test_facts_in_a_passage_of_the_inputs():
    gold_split = split("knowledge-base-population", TASKS["knowledge-base-population"])
    lines = public_lines(gold_split)
    lines[3]["passages"][0] |= {"facts": [], "exhaustivelyAnnotatedProperties": []}
    assert findings_of(gold_split, lines) == {}
    lines[3]["passages"][0]["facts"] = [fact((0, 3), (10, 14))]
    assert findings_of(gold_split, lines)["inputs-hold-gold"].line == 4


def test_a_changed_text_is_found():
    gold_split = split("fact-verification", TASKS["fact-verification"])
    lines = public_lines(gold_split)
    lines[5]["claim"] += "!"
    assert findings_of(gold_split, lines)["inputs-differ"].line == 6


def test_the_order_of_the_inputs_counts_and_extra_columns_are_tested():
    gold = sorted(claims(100), key=lambda line: line["label"])
    gold_split = split("fact-verification", gold)
    lines = public_lines(gold_split)
    severity = {finding["code"]: finding["severity"] for finding in audited(gold_split)["findings"]}
    assert severity["order-tells-label"] == "warning"  # the server writes inputs in another order
    clean = read_public_inputs(gold_split, stream(lines), "inputs.jsonl")
    assert "order-tells-label" not in codes(audited(gold_split, public=clean))
    label = {line["id"]: line["label"] for line in gold}
    with_column = [line | {"source": "a" if label[line["id"]] == "SUPPORTS" else "b"} for line in lines]
    assert "column-tells-label" in codes(
        audited(gold_split, public=read_public_inputs(gold_split, stream(with_column), "inputs.jsonl"))
    )
    bad = read_public_inputs(gold_split, stream(sorted(lines, key=lambda line: label[line["id"]])), "inputs.jsonl")
    report = audited(gold_split, public=bad)
    severity = {finding["code"]: finding["severity"] for finding in report["findings"]}
    assert severity["order-tells-label"] == "error"
    assert not report["publishable"]


def test_invalid_inputs_are_reported():
    gold_split = split("fact-verification", claims(30))
    with pytest.raises(InputsError, match=r'inputs.jsonl:2: duplicate id, found "'):
        read_public_inputs(gold_split, stream([public_lines(gold_split)[0]] * 2), "inputs.jsonl")
    with pytest.raises(InputsError, match=r"inputs.jsonl:1: id is not valid, found true"):
        read_public_inputs(gold_split, stream([{"id": True}]), "inputs.jsonl")
    with pytest.raises(InputsError, match=r"inputs.jsonl: the file is empty"):
        read_public_inputs(gold_split, stream([]), "inputs.jsonl")
