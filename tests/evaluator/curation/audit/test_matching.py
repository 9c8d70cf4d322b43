"""Gold consistency checks: each problem is found, and a clean gold has none."""

from __future__ import annotations

import pytest

from tests.evaluator.curation.audit.splits import document, fact, split

TEXT = "Ann leads Acme and Bob leads Bolt"
GOOD = fact((0, 3), (10, 14))


def findings_of(task, lines):
    gold_split = split(task, lines)
    return {finding.code: finding for finding in gold_split.task.audit.check(gold_split)}


def test_a_clean_document():
    assert findings_of("knowledge-base-population", [document("d", TEXT, [GOOD])]) == {}


@pytest.mark.parametrize(
    ("wrong", "code"),
    [
        (fact((0, 3), (10, 99)), "offsets-outside-text"),
        (fact((-2, 3), (10, 14)), "offsets-outside-text"),
        (fact((3, 0), (10, 14)), "offsets-inverted"),
        (fact((0, 0), (10, 14)), "offsets-inverted"),
        (fact((3, 4), (10, 14)), "offsets-on-blank"),
        (fact((0, 2), (10, 14)), "offsets-cut-words"),
        (fact((0, 4), (10, 14)), "offsets-untrimmed"),
        (fact((0, 3), (10, 14), objectUri="not a uri"), "uri-form"),
        (fact((0, 3), (10, 14), objectText="Bolt"), "text-at-offsets"),
        (fact((0, 3), (10, 14), propertyId="9"), "nameless-property"),
        (fact((0, 3), (10, 14), propertyId="5"), "date-without-date"),
    ],
)
def test_an_inconsistent_fact_is_found(wrong, code):
    lines = [document("a", TEXT, [GOOD]), document("d", TEXT, [wrong])]
    findings = findings_of("knowledge-base-population", lines)
    assert code in findings
    assert findings[code].line == 2
    assert findings[code].numbers["count"] == 1


def test_overlapping_passages_and_ids_with_other_offsets():
    line = document("d", TEXT, [GOOD])
    whole = line["passages"][0]
    half = {**whole, "passageId": "d:0:14", "passageEnd": 14, "passageText": TEXT[:14]}
    rest = {**whole, "passageId": "d:19:33", "passageStart": 19, "passageText": TEXT[19:], "facts": []}
    valid = document("e", TEXT, [])
    valid["passages"] = [half | {"passageId": "e:0:14"}, rest | {"passageId": "e:19:33"}]
    assert findings_of("knowledge-base-population", [valid]) == {}
    line["passages"] = [half, rest | {"passageId": "d:18:33"}, {**rest, "passageId": "d:14:33", "passageStart": 10}]
    line["passages"][2]["passageText"] = TEXT[10:]
    findings = findings_of("knowledge-base-population", [valid, line])
    assert {code: finding.numbers["count"] for code, finding in findings.items()} == {
        "passage-id": 2,
        "passages-overlap": 2,
    }


def test_passages_and_properties():
    line = document("d", TEXT, [GOOD, GOOD])
    other = document("e", TEXT, [])
    line["passages"][0] |= {"passageId": "d:0:14", "passageEnd": 14, "passageText": TEXT[:14]}
    line["passages"][0]["facts"].append(fact((0, 3), (19, 22)))
    other["passages"][0]["passageText"] = "Ann leeds Acme and Bob leads Bolt"
    other["passages"][0]["facts"] = [GOOD]
    other["passages"][0]["exhaustivelyAnnotatedProperties"] = []
    findings = findings_of("knowledge-base-population", [line, other])
    assert {code: finding.line for code, finding in findings.items()} == {
        "repeated-fact": 1,
        "offsets-outside-passage": 1,
        "passage-text": 2,
        "unknown-property": 2,
    }


def claim(name, label, **more):
    return {"id": name, "claim": "a claim", "label": label, **more}


def test_claims_and_their_evidence():
    sentence = [1, 2, "Page", 3]
    lines = [
        claim("a", "SUPPORTS", evidence=[[sentence]]),
        claim("b", "SUPPORTS", evidence=[]),
        claim("c", "NOT ENOUGH INFO", evidence=[[sentence]]),
        claim("d", "NOT ENOUGH INFO", evidence=[[[1, None, None, None]]]),
        claim("e", "REFUTES", evidence=[[sentence, [1, None, None, None]]]),
        claim("f", "REFUTES", evidence=[[sentence]]) | {"claim": " "},
    ]
    assert {code: finding.line for code, finding in findings_of("fact-verification", lines).items()} == {
        "evidence-missing": 2,
        "evidence-unasked": 3,
        "evidence-without-page": 5,
        "empty-claim": 6,
    }


def test_an_invalid_symmetric_set():
    members = [
        ("c", "e", "SUPPORTS", "original"),
        ("c", "f", "REFUTES", "generated"),
        ("d", "e", "REFUTES", "generated"),
        ("d", "f", "SUPPORTS", "generated"),
    ]
    lines = [
        {"id": str(i), "claim": c, "evidence_text": e, "label": label, "group": 1, "slices": {"origin": origin}}
        for i, (c, e, label, origin) in enumerate(members)
    ]
    assert findings_of("fact-verification", lines) == {}
    assert set(findings_of("fact-verification", lines[:3])) == {"not-symmetric"}
    lines[3]["label"] = "REFUTES"
    assert set(findings_of("fact-verification", lines)) == {"not-symmetric"}


def test_triples():
    def line(name, subject, object_, label, relation="r"):
        return {"id": name, "subject": subject, "relation": relation, "object": object_, "label": label}

    many = [line(str(i), f"s{i}", f"o{i}", True) for i in range(8)]
    assert findings_of("fact-checking", many) == {}
    wrong = [
        line("x", "s", "s", False),
        line("y", "o1", "s1", False),
        line("z", " ", "o", False),
        line("w", "s", "o", True, "q"),
    ]
    assert {code: finding.line for code, finding in findings_of("fact-checking", many + wrong).items()} == {
        "subject-is-object": 9,
        "turned-round": 10,
        "empty-part": 11,
        "rare-relation": 12,
    }


def test_questions():
    def line(name, question, answers, filtered=(), **more):
        return {"id": name, "question": question, "answers": answers, "filtered": list(filtered), **more}

    good = [line("a", ["x", "r", "?"], ["y"], group=1), line("b", ["?", "r", "y"], ["x"], group=1)]
    assert findings_of("link-prediction", good) == {}
    for question in good:
        del question["group"]
    wrong = [
        line("c", ["x", "q", "?"], []),
        line("d", ["x", "p", "?"], ["x"]),
        line("e", ["z", "p", "?"], ["y", "w"], ["w"]),
        line("f", ["z", "q", "?"], ["y", "y"]),
        line("g", ["u", "q", "?"], [""]),
    ]
    assert {code: finding.line for code, finding in findings_of("link-prediction", good + wrong).items()} == {
        "no-answers": 3,
        "answer-in-question": 4,
        "answer-filtered": 5,
        "repeated-mention": 6,
        "empty-mention": 7,
        "questions-answer-each-other": 1,
    }


def test_texts_and_ratings():
    lines = [
        {"id": "a", "text": "Ada was born in London", "facts": [["Ada", "born in", "London"]]},
        {"id": "b", "text": "Ada was born there", "facts": [["Ada", "born in", "London"]]},
        {"id": "c", "facts": []},
        {"id": "d", "text": "x", "facts": [["Ada", "", "x"]]},
    ]
    assert findings_of("fact-extraction", lines[:1]) == {}
    assert {code: finding.line for code, finding in findings_of("fact-extraction", lines).items()} == {
        "fact-not-in-text": 2,
        "no-text": 3,
        "no-facts": 3,
        "empty-part": 4,
    }
    rated = [{"id": "a", "human": 1, "generated": "x", "system": "s"}, {"id": "b", "human": 2, "generated": "y"}]
    assert set(findings_of("metric-correlation", rated)) == {"no-system"}
    assert set(findings_of("metric-correlation", [{"id": "a", "human": 1}, {"id": "b", "human": 1}])) == {
        "no-text",
        "one-rating",
    }
