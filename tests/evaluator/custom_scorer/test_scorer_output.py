"""Output of an organiser's scorer: read as strictly as predictions, and never quoted."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest

from evaluator.jobs import JOBS
from evaluator.outcomes.serialization import from_bytes
from evaluator.outcomes.table import Outcomes

MEASURES = [
    {"name": "gain", "title": "Gain", "doc": "What is won.", "lower": -1.0, "upper": None, "higher_is_better": True},
    {"name": "loss", "title": "Loss", "doc": "What is lost.", "lower": 0, "upper": 1, "higher_is_better": False},
]
ARGUMENTS: dict[str, Any] = {
    "task": "fact-verification",
    "task_version": 3,
    "measures": MEASURES,
    "primary": "gain",
    "dimensions": {"kind": ["a", "b"], "year": [1, 2.0, True]},
    "resamples": 200,
    "seed": 0,
}
VALUES = {"u1": 2.0, "u2": -1.0, "u3": 5.0, "u4": 0.5}
SECRET = "GOLD-IS-SUPPORTS"


def row(measure: str = "gain", value: Any = 1.625, n: Any = 4, **slice_: Any) -> dict[str, Any]:
    return {"measure": measure, "slice": slice_, "value": value, "n": n}


def whole(*more: dict[str, Any], **changes: Any) -> dict[str, Any]:
    fields = {"task": "fact-verification", "task_version": 3, "n_units": 4, "n_groups": 3}
    return {**fields, "scores": [row(), row("loss", 0.25), *more], "warnings": [SECRET], **changes}


def units(**changes: Any) -> list[dict[str, Any]]:
    """Four units in three groups; the first two are of kind a."""
    return [
        {
            "id": name,
            "group": "g" if name in ("u1", "u2") else name,
            "slices": {"kind": "a" if name in ("u1", "u2") else "b"},
            "values": {"gain": value},
            **changes,
        }
        for name, value in VALUES.items()
    ]


def read(scores: Any, outcomes: Any = None, **changes: Any) -> tuple[dict[str, Any], bytes]:
    files = {"scores": io.BytesIO(scores if isinstance(scores, bytes) else json.dumps(scores).encode())}
    if outcomes is not None:
        lines = (
            outcomes if isinstance(outcomes, bytes) else "".join(json.dumps(line) + "\n" for line in outcomes).encode()
        )
        files["outcomes"] = io.BytesIO(lines)
    return JOBS["scorer_output"](files, {**ARGUMENTS, **changes})


def problem_text(*content: Any, **changes: Any) -> str:
    report, attachment = read(*content, **changes)
    assert not report["ok"] and attachment == b""
    assert report["fault"] == "scorer"
    text = " ".join(problem["text"] for problem in report["problems"])
    assert SECRET not in json.dumps(report)
    return text


def score_of(report: dict[str, Any], measure: str, **slice_: Any) -> dict[str, Any]:
    return next(row for row in report["result"]["scores"] if (row["measure"], row["slice"]) == (measure, slice_))


def test_values_without_outcomes_have_no_interval() -> None:
    report, attachment = read(whole(row("gain", 0.5, 2, kind="a")))
    assert report["ok"] and attachment == b""
    assert score_of(report, "gain") == {**row(), "low": None, "high": None}
    assert score_of(report, "gain", kind="a")["value"] == 0.5
    assert (report["measures"], report["units_sha256"], report["n_warnings"]) == ([], "", 1)
    assert report["result"]["warnings"] == [], "warnings could contain gold"


def test_outcomes_give_intervals_on_the_whole_and_on_slices() -> None:
    report, attachment = read(whole(row("gain", 0.5, 2, kind="a"), row("loss", 0.5, 2, kind="a")), units())
    gain = score_of(report, "gain")
    # Groups are resampled: (2 - 1), 5, 0.5 with sizes 2, 1, 1; every mean of them is in [0.5, 5].
    assert 0.5 <= gain["low"] < 1.625 < gain["high"] <= 5
    # One group gives no information about another sample.
    assert score_of(report, "gain", kind="a")["low"] is None
    assert score_of(report, "loss")["low"] is None, "no unit has a loss"
    assert report["measures"] == ["gain"]
    table: Outcomes = from_bytes(attachment)
    assert (table.n_units, table.group_names, table.facts["scorer"]) == (4, ("g", "u3", "u4"), 3)
    assert np.array_equal(table.statistics["gain"], [2.0, -1.0, 5.0, 0.5])


def test_the_interval_equals_that_of_the_tasks_own_mean() -> None:
    """The same values by the built-in scorer: accuracy of a task with one claim per unit."""
    labels = [float(n % 3 != 0) for n in range(30)]
    lines = [{"id": n, "group": n // 2, "values": {"loss": value}} for n, value in enumerate(labels)]
    mean = sum(labels) / 30
    scores = whole(scores=[row("gain", 0.0), row("loss", mean, 30)], n_units=30, n_groups=15)
    custom = score_of(read(scores, lines, resamples=1000)[0], "loss")
    gold = "".join(
        json.dumps({"id": i, "claim": "c", "evidence_text": "e", "label": "SUPPORTS", "group": i // 2}) + "\n"
        for i in range(30)
    )
    answers = "".join(
        json.dumps({"id": i, "predicted_label": "SUPPORTS" if right else "REFUTES"}) + "\n"
        for i, right in enumerate(labels)
    )
    files = {"gold": io.BytesIO(gold.encode()), "predictions": io.BytesIO(answers.encode())}
    names = {"gold_name": "g.jsonl", "predictions_name": "p.jsonl"}
    report, _ = JOBS["score"](files, {"task": "fact-verification", "resamples": 1000, "seed": 0, **names})
    built_in = score_of(report, "accuracy")
    assert (custom["value"], custom["low"], custom["high"]) == (built_in["value"], built_in["low"], built_in["high"])


SCORES_FAULTS: dict[str, tuple[Any, str]] = {
    "no json": (b"{", "not valid JSON"),
    "not utf-8": (b"\xff", "not UTF-8"),
    "a list": ([], "does not fit the published schema: Expected `object`"),
    "nan": (json.dumps(whole(scores=[row(value=float("nan"))])).encode(), "expected a finite number"),
    "infinity": (json.dumps(whole(scores=[row(value=float("inf"))])).encode(), "expected a finite number"),
    "1e999": (json.dumps(whole()).replace("1.625", "1e999").encode(), "number beyond float64"),
    "twice": (json.dumps(whole()).replace('"n_units"', '"task": "x", "n_units"').encode(), "duplicate key"),
    "unknown key": (whole(**{SECRET: 1}), "unknown field"),
    "unknown key with backticks": (whole(**{f"a` - at `$.{SECRET}`\n{SECRET}": 1}), "unknown field"),
    "unknown key of a row": (whole(scores=[{**row(), SECRET: 1}]), "unknown field"),
    "a string for a number": (whole(scores=[row(value="1")]), "Expected `float | null`"),
    "a bool for a number": (whole(n_units=True), "Expected `int`"),
    "another task": (whole(task=SECRET), "task is not that of the phase, expected fact-verification"),
    "another version": (whole(task_version=2), "task_version is not the scorer's version, expected 3"),
    "no units": (whole(n_units=0), "expected 1 <= n_groups <= n_units"),
    "more groups": (whole(n_groups=5), "expected 1 <= n_groups <= n_units"),
    "below": (whole(scores=[row(value=-1.5), row("loss", 0)]), "scores[0], gain, is outside its bounds, -1 to inf"),
    "above": (whole(scores=[row(), row("loss", 1.0000001)]), "scores[1], loss, is outside its bounds, 0 to 1"),
    "unknown measure": (whole(row(SECRET)), "scores[2] names an unknown measure, expected one of: gain, loss"),
    "missing measure": (whole(scores=[row()]), "no row for loss"),
    "primary without value": (whole(scores=[row(value=None), row("loss", 0)]), "gain has no value on the whole"),
    "unknown dimension": (whole(row(**{SECRET: "a"})), "unknown dimension, expected one of: kind, year"),
    "unknown value": (whole(row(kind=SECRET)), "scores[2].slice names a value that the gold's kind does not have"),
    "1 is not true": (whole(row(year=True), row(year=1.0)), "scores[3].slice names a value"),
    "twice a slice": (whole(row(kind="a"), row(kind="a")), "scores[3] is a duplicate: gain on the same slice"),
    "negative n": (whole(row(n=-1, kind="a")), "negative n, expected 0 or more"),
    "n beyond a whole number": (whole(row(n=2**31, kind="a")), "n that is too large, expected at most 2147483647"),
    "units beyond a whole number": (whole(n_units=10**30), "n_groups <= n_units <= 2147483647"),
    "a value on nothing": (whole(row(n=0, kind="a")), "has a value although n is 0"),
    "an interval of its own": (whole({**row(kind="a"), "low": 0.0, "high": 1.0}), "Expected `null`"),
}


@pytest.mark.parametrize("name", SCORES_FAULTS)
def test_invalid_scores_are_refused(name: str) -> None:
    content, expected = SCORES_FAULTS[name]
    text = problem_text(content)
    assert text.startswith("scores.json: ") and expected in text


def test_a_measure_may_lack_a_value_on_an_empty_slice() -> None:
    report, _ = read(whole(row(value=None, n=0, kind="b")))
    assert score_of(report, "gain", kind="b")["value"] is None


OUTCOMES_FAULTS: dict[str, tuple[Any, str]] = {
    "empty": (b"", "outcomes.jsonl: the file is empty"),
    "not json": (b"{}\n[", "outcomes.jsonl"),
    "another mean": (
        [{**unit, "values": {"gain": 1.0}} for unit in units()],
        "the mean of gain differs from the value of scores[0]",
    ),
    "fewer units": (units()[:3], "the number of lines differs from n_units"),
    "other groups": (units(group="g"), "the number of groups differs from n_groups"),
    "an id twice": ([*units()[:3], units()[0]], "outcomes.jsonl:4: duplicate id"),
    "unknown measure": (units(values={SECRET: 1}), "outcomes.jsonl:1: a value of an unknown measure"),
    "out of bounds": (units(values={"gain": -2}), "outcomes.jsonl:1: a value of gain is outside its bounds"),
    "too large to sum": (units(values={"gain": 1e300}), "is outside its bounds"),
    "a null": (units(values={"gain": None}), "outcomes.jsonl:1"),
    "nan": (b'{"id": 1, "values": {"gain": NaN}}\n{}\n', "outcomes.jsonl:1: not valid JSON"),
    "unknown key": (units(**{SECRET: 1}), "keys that are not in the schema"),
    "unknown dimension": (units(slices={SECRET: "a"}), "unknown dimension"),
    "unknown value": (units(slices={"kind": SECRET}), "a value that the gold's kind does not have"),
}


@pytest.mark.parametrize("name", OUTCOMES_FAULTS)
def test_invalid_outcomes_are_refused(name: str) -> None:
    content, expected = OUTCOMES_FAULTS[name]
    assert expected in problem_text(whole(), content)


def test_a_slice_value_that_differs_from_its_outcomes_is_refused() -> None:
    assert "differs from the value of scores[2]" in problem_text(whole(row("gain", 0.6, 2, kind="a")), units())


def test_means_agree_to_a_billionth() -> None:
    assert read(whole(scores=[row(value=1.625 + 5e-10), row("loss", 0)]), units())[0]["ok"]
    assert "mean of gain" in problem_text(whole(scores=[row(value=1.625 + 5e-9), row("loss", 0)]), units())


def test_the_digest_of_units_depends_on_ids_groups_and_slices_alone() -> None:
    digests = [read(whole(), units())[0]["units_sha256"]]
    other = [{**unit, "values": {"gain": 1.625}} for unit in units()]
    assert read(whole(), other)[0]["units_sha256"] == digests[0], "the digest depends on values"
    for change in ({"id": "v1"}, {"group": "h"}, {"slices": {}}):
        lines = units()
        lines[3] = {**lines[3], **change}
        digests.append(read(whole(), lines)[0]["units_sha256"])
    assert len(set(digests)) == 4


def test_outcomes_of_a_custom_scorer_are_compared_by_its_measures() -> None:
    _, a = read(whole(), units())
    worse = [
        {**unit, "values": {"gain": unit["values"]["gain"] - 0.5 if unit["id"] != "u2" else -1.0}} for unit in units()
    ]
    _, b = read(whole(scores=[row(value=1.25), row("loss", 0)]), worse)
    arguments = {"pairs": [[0, 1]], "measure": "gain", "resamples": 200, "seed": 0}
    scorer = {"number": 3, "measures": MEASURES, "primary": "gain"}
    files = {"0": io.BytesIO(a), "1": io.BytesIO(b)}
    report, _ = JOBS["compare_board"](files, {**arguments, "scorer": scorer})
    assert report["comparisons"][0]["difference"] == 0.375
    for wrong in ({}, {"scorer": {**scorer, "number": 2}}, {"scorer": scorer, "measure": "loss"}):
        for file in files.values():
            file.seek(0)
        refused, _ = JOBS["compare_board"](files, {**arguments, **wrong})
        assert (refused["ok"], refused.get("fault")) == (False, "usage")
