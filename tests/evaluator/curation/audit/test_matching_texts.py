"""Duplicate texts with different ratings, and subjects that do not occur in their texts."""

from __future__ import annotations

from tests.evaluator.curation.audit.splits import audited, split


def findings(task, lines):
    return {finding["code"]: finding for finding in audited(split(task, lines))["findings"]}


def test_a_duplicate_text_with_different_ratings():
    lines = [{"id": i, "human": float(i % 10), "generated": f"text {i}"} for i in range(40)]
    assert "duplicates-rated-apart" not in findings("metric-correlation", lines)
    lines[9]["generated"] = "Text 20."
    duplicates = findings("metric-correlation", lines)["duplicates-rated-apart"]
    assert duplicates["severity"] == "warning"
    assert duplicates["numbers"]["lines"] == [[10, 21]]
    lines[9]["human"] = 1.0
    assert "duplicates-rated-apart" not in findings("metric-correlation", lines)


def test_a_subject_that_its_text_does_not_name():
    lines = [
        {"id": i, "facts": [["Ann", "lives", "Rome"]], "subject": "Ann", "text": f"ann {i} lives in Rome"}
        for i in range(3)
    ]
    assert "subject-not-in-text" not in findings("fact-extraction", lines)
    lines[1]["subject"] = "Bob"
    missing = findings("fact-extraction", lines)["subject-not-in-text"]
    assert (missing["severity"], missing["where"]["line"], missing["numbers"]["count"]) == ("warning", 2, 1)
