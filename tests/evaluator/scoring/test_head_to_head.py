"""Number and ids of units that only one of two systems has right: by hand, and against the scorer's values."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest

from evaluator.jobs import JOBS

TASK = "fact-verification"
GOLD = [("z", "SUPPORTS", "x"), ("a", "REFUTES", "x"), ("m", "SUPPORTS", "y"), ("b", "NOT ENOUGH INFO", "y")]


def gold(groups: dict[str, str] | None = None) -> bytes:
    lines = [
        {
            "id": id_,
            "claim": f"claim {id_}",
            "label": label,
            "slices": {"kind": kind},
            "group": (groups or {}).get(id_, id_),
        }
        for id_, label, kind in GOLD
    ]
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def outcomes(answers: dict[str, str]) -> bytes:
    body = b"".join(json.dumps({"id": i, "predicted_label": label}).encode() + b"\n" for i, label in answers.items())
    files = {"gold": io.BytesIO(gold()), "predictions": io.BytesIO(body)}
    report, attachment = JOBS["score"](
        files, {"task": TASK, "gold_name": "gold.jsonl", "predictions_name": "p.jsonl", "resamples": 0}
    )
    assert report["ok"], report
    return attachment


A = {"z": "SUPPORTS", "a": "SUPPORTS", "m": "SUPPORTS", "b": "REFUTES"}
"""Correct on z and m."""
B = {"b": "NOT ENOUGH INFO", "m": "SUPPORTS", "a": "SUPPORTS", "z": "REFUTES"}
"""Correct on m and b; in another order than gold."""


def compare(a: dict[str, str], b: dict[str, str], **files: bytes) -> dict[str, Any]:
    both = {"a": outcomes(a), "b": outcomes(b), **files}
    report, _ = JOBS["head_to_head"](
        {name: io.BytesIO(body) for name, body in both.items()}, {"resamples": 100, "gold_name": "gold.jsonl"}
    )
    assert report["ok"], report
    return report


def counts(report: dict[str, Any]) -> dict[str, tuple[int, int, int, int]]:
    return {
        json.dumps(row["slice"]): tuple(row[name] for name in ("both", "a_only", "b_only", "neither"))
        for row in report["counts"]
        if row["measure"] == "accuracy"
    }


def test_units_are_counted_on_the_whole_and_each_slice():
    counted = counts(compare(A, B))
    assert counted["{}"] == (1, 1, 1, 1)
    assert counted['{"kind": "x"}'] == (0, 1, 0, 1)
    assert counted['{"kind": "y"}'] == (1, 0, 1, 0)
    assert counted['{"label": "SUPPORTS"}'] == (1, 1, 0, 0)


def test_counts_agree_with_the_values():
    report = compare(A, B)
    values = {json.dumps(row["slice"]): row for row in report["comparisons"] if row["measure"] == "accuracy"}
    for slice_, (both, a_only, b_only, neither) in counts(report).items():
        n = both + a_only + b_only + neither
        row_of_slice = values[slice_]
        assert n == row_of_slice["n"]
        assert row_of_slice["a"] == pytest.approx((both + a_only) / n)
        assert row_of_slice["b"] == pytest.approx((both + b_only) / n)


def test_units_are_listed_only_where_gold_is_given():
    assert "items" not in compare(A, B)
    (items,) = (row for row in compare(A, B, gold=gold())["items"] if row["measure"] == "accuracy")
    assert [id_ for id_, _ in items["a_only"]] == ["z"]
    assert [id_ for id_, _ in items["b_only"]] == ["b"]
    assert json.loads(items["b_only"][0][1])["claim"] == "claim b"


def test_no_units_are_listed_for_a_gold_with_other_lines():
    assert compare(A, B, gold=gold() + gold())["items"] == []


def test_swapping_the_systems_swaps_the_report():
    forward, reverse = compare(A, B), compare(B, A)
    for slice_, (both, a_only, b_only, neither) in counts(forward).items():
        assert counts(reverse)[slice_] == (both, b_only, a_only, neither)
    for row_forward, row_reverse in zip(forward["comparisons"], reverse["comparisons"], strict=True):
        assert row_forward["p"] == row_reverse["p"]
        assert row_forward["difference"] is None or row_forward["difference"] == -row_reverse["difference"]
