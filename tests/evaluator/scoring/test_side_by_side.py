"""How many units one of two systems has right, and which: by hand, and against the scorer's own values."""

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
"""Right on z and m."""
B = {"b": "NOT ENOUGH INFO", "m": "SUPPORTS", "a": "SUPPORTS", "z": "REFUTES"}
"""Right on m and b; in another order than gold."""


def beside(a: dict[str, str], b: dict[str, str], **files: bytes) -> dict[str, Any]:
    both = {"a": outcomes(a), "b": outcomes(b), **files}
    report, _ = JOBS["side_by_side"](
        {name: io.BytesIO(body) for name, body in both.items()}, {"resamples": 100, "gold_name": "gold.jsonl"}
    )
    assert report["ok"], report
    return report


def counts(report: dict[str, Any]) -> dict[str, tuple[int, int, int, int]]:
    return {
        json.dumps(one["slice"]): tuple(one[name] for name in ("both", "a_only", "b_only", "neither"))
        for one in report["counts"]
        if one["measure"] == "accuracy"
    }


def test_units_are_counted_on_the_whole_and_each_slice():
    found = counts(beside(A, B))
    assert found["{}"] == (1, 1, 1, 1)
    assert found['{"kind": "x"}'] == (0, 1, 0, 1)
    assert found['{"kind": "y"}'] == (1, 0, 1, 0)
    assert found['{"label": "SUPPORTS"}'] == (1, 1, 0, 0)


def test_counts_say_the_same_as_the_values():
    report = beside(A, B)
    values = {json.dumps(one["slice"]): one for one in report["comparisons"] if one["measure"] == "accuracy"}
    for slice_, (both, a_only, b_only, neither) in counts(report).items():
        n = both + a_only + b_only + neither
        told = values[slice_]
        assert n == told["n"]
        assert told["a"] == pytest.approx((both + a_only) / n)
        assert told["b"] == pytest.approx((both + b_only) / n)


def test_units_are_named_only_where_the_gold_is_given():
    assert "items" not in beside(A, B)
    (found,) = (one for one in beside(A, B, gold=gold())["items"] if one["measure"] == "accuracy")
    assert [id_ for id_, _ in found["a_only"]] == ["z"]
    assert [id_ for id_, _ in found["b_only"]] == ["b"]
    assert json.loads(found["b_only"][0][1])["claim"] == "claim b"


def test_a_gold_of_other_lines_names_nothing():
    assert beside(A, B, gold=gold() + gold())["items"] == []


def test_exchanging_the_two_exchanges_what_is_said():
    there, back = beside(A, B), beside(B, A)
    for slice_, (both, a_only, b_only, neither) in counts(there).items():
        assert counts(back)[slice_] == (both, b_only, a_only, neither)
    for one, other in zip(there["comparisons"], back["comparisons"], strict=True):
        assert one["p"] == other["p"]
        assert one["difference"] is None or one["difference"] == -other["difference"]
